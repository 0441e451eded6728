// The C door to grammars, embeddings and rerankers.
#include "api/c_api.hpp"

using namespace inlay::api;

namespace {

inlay::Grammar compile(inlay_grammar_kind kind, std::string_view source) {
  switch (kind) {
    case INLAY_GRAMMAR_JSON_SCHEMA: return inlay::Grammar::json_schema(source);
    case INLAY_GRAMMAR_JSON_SCHEMA_LENIENT: return inlay::Grammar::json_schema(source, inlay::Unsupported::ignore);
    case INLAY_GRAMMAR_REGEX: return inlay::Grammar::regex(source);
    case INLAY_GRAMMAR_GBNF: return inlay::Grammar::gbnf(source);
  }
  throw inlay::Error(inlay::Errc::argument, "there is no such kind of grammar");
}

// A handle for what `make` makes.
template <class Make>
inlay_status new_grammar(inlay_grammar** out, inlay_error* error, Make make) noexcept {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    *out = new inlay_grammar{make()};
    return INLAY_OK;
  });
}

std::vector<std::string_view> views_of(const inlay_text* texts, std::size_t n, const char* name) {
  std::vector<std::string_view> views;
  for (const auto text : list(texts, n, name)) views.push_back(view(text));
  return views;
}

}  // namespace

inlay_status inlay_embed(const inlay_model* model, inlay_text input, inlay_pooling pooling, int normalize, float* rows,
                         size_t capacity, size_t* count, inlay_error* error) {
  return status_of(error, [&] {
    const inlay::EmbedOptions how{static_cast<inlay::Pooling>(pooling), normalize != 0};
    return deliver(required(model, "model").model.embed(view(input), how).values, rows, capacity, count);
  });
}

inlay_status inlay_embed_tokens(const inlay_model* model, const int32_t* tokens, size_t n, inlay_pooling pooling,
                                int normalize, float* rows, size_t capacity, size_t* count, inlay_error* error) {
  return status_of(error, [&] {
    const inlay::EmbedOptions how{static_cast<inlay::Pooling>(pooling), normalize != 0};
    const auto ids = list(tokens, n, "tokens");
    return deliver(required(model, "model").model.embed(ids, how).values, rows, capacity, count);
  });
}

inlay_status inlay_rerank(const inlay_model* model, inlay_text query, const inlay_text* documents, size_t n,
                          float* scores, inlay_error* error) {
  return status_of(error, [&] {
    const auto values = required(model, "model").model.rerank(view(query), views_of(documents, n, "documents"));
    if (n > 0) std::copy(values.begin(), values.end(), &required(scores, "scores"));
    return INLAY_OK;
  });
}

inlay_status inlay_grammar_new(inlay_grammar_kind kind, inlay_text source, inlay_grammar** out, inlay_error* error) {
  return new_grammar(out, error, [&] { return compile(kind, view(source)); });
}

inlay_status inlay_grammar_json(inlay_grammar** out, inlay_error* error) {
  return new_grammar(out, error, [] { return inlay::Grammar::json(); });
}

inlay_status inlay_grammar_choice(const inlay_text* texts, size_t n, inlay_grammar** out, inlay_error* error) {
  return new_grammar(out, error, [&] { return inlay::Grammar::choice(views_of(texts, n, "texts")); });
}

inlay_status inlay_grammar_match(const inlay_grammar* grammar, inlay_text input, inlay_match* out, inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = static_cast<inlay_match>(required(grammar, "grammar").grammar.match(view(input)));
    return INLAY_OK;
  });
}

void inlay_grammar_free(inlay_grammar* grammar) { delete grammar; }
