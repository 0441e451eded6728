// Scores of pairs of texts, by models that judge: cross-encoders, and decoders that answer yes or no.
#include <algorithm>
#include <cmath>

#include "api/guarded.hpp"
#include "api/state.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

// The pair as the file's template shows it, as one text, where it has one. What the texts spell never becomes a control
// token.
text::Tokenizer::Pair tokens_of(const ModelState& model, std::string_view query, std::string_view document) {
  const auto* key = model.file.find("tokenizer.chat_template.rerank");
  if (!key) return model.tokenizer->encode_pair(query, document);
  std::pmr::vector<text::Segment> segments(model.memory);
  std::string_view rest = model.file.text("tokenizer.chat_template.rerank");
  while (!rest.empty()) {
    constexpr std::string_view query_mark = "{query}", document_mark = "{document}";
    const auto at = std::min(rest.find(query_mark), rest.find(document_mark));
    segments.push_back({rest.substr(0, at), true});
    if (at == rest.npos) break;
    const bool asks = rest.substr(at).starts_with(query_mark);
    segments.push_back({asks ? query : document, false});
    rest.remove_prefix(at + (asks ? query_mark : document_mark).size());
  }
  auto ids = model.tokenizer->encode(segments, false);
  const auto end = ids.size();
  return {std::move(ids), end};
}

// Which of the answers is the score: the one that the file calls "yes", else the first.
std::size_t chosen_answer(const ModelState& model, std::size_t answers) {
  const auto* labels = model.file.find(model.info.architecture + ".classifier.output_labels");
  for (std::size_t i = 0; labels && i < std::min(answers, labels->size()); ++i)
    if (labels->text(i) == "yes") return i;
  return 0;
}

float score_of(const ModelState& model, std::span<const float> answers) {
  const auto chosen = chosen_answer(model, answers.size());
  if (answers.size() == 1) return answers[0];
  double sum = 0;
  for (const float answer : answers) sum += std::exp(double(answer) - double(answers[chosen]));
  return float(1 / sum);
}

std::vector<float> answers_of(const std::shared_ptr<const ModelState>& model, const text::Tokenizer::Pair& pair) {
  const auto& tokens = pair.ids;
  auto& engine = *model->engine;
  if (tokens.empty() || tokens.size() > std::size_t(engine.context()))
    throw Error(Errc::argument,
                "a query and a document are " + std::to_string(tokens.size()) +
                    " tokens, and the model reads from 1 to " + std::to_string(engine.context()),
                Fault::limit, "documents");
  if (const auto* judge = engine.judge()) return (*judge)(engine.encode(tokens, pair.second));
  SessionState session(model, {});
  session.append(tokens);
  std::vector<float> answers;
  session.read({.wants = [last = tokens.size() - 1](std::size_t i) { return i == last; },
                .take = [&](std::size_t, std::span<const float> row) { answers.assign(row.begin(), row.end()); }});
  return answers;
}

}  // namespace

std::vector<float> Model::rerank(std::string_view query, std::span<const std::string_view> documents) const {
  return guarded([&] {
    if (!state_->engine) throw Error(Errc::argument, "only the vocabulary of this model was loaded");
    if (!state_->engine->judge() && !state_->engine->answers())
      throw Error(Errc::argument, "this model judges no texts: its file has no tensor \"cls\" or \"cls.output\"");
    std::vector<float> scores;
    for (const auto document : documents)
      scores.push_back(score_of(*state_, answers_of(state_, tokens_of(*state_, query, document))));
    return scores;
  });
}

}  // namespace v0
}  // namespace inlay
