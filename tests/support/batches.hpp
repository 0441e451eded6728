// What a request says, alone and in a batch, with a hash of the logits that every token was drawn from.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "inlay/inlay.hpp"

namespace support {

// Plain tokens of the small models' vocabulary, the same for the same `first`.
inline std::vector<inlay::TokenId> text(std::size_t n, inlay::TokenId first) {
  std::vector<inlay::TokenId> tokens(n);
  for (std::size_t i = 0; i < n; ++i) tokens[i] = 300 + inlay::TokenId((std::size_t(first) * 131 + i * i * 7) % 2000);
  return tokens;
}

struct Ask {
  std::vector<inlay::TokenId> prompt;
  inlay::Sampler sampler;
  inlay::Limits limits;
};

struct Said {
  std::vector<inlay::TokenId> tokens = {};
  std::string text = {};
  std::vector<float> logprobs = {};
  std::vector<std::uint64_t> logits = {};
  inlay::Finish finish = inlay::Finish::running;
  bool operator==(const Said&) const = default;
};

// FNV-1a over the bits.
inline std::uint64_t hash(std::span<const float> logits) {
  std::uint64_t sum = 14695981039346656037u;
  for (const float logit : logits) {
    std::uint32_t bits;
    std::memcpy(&bits, &logit, sizeof(bits));
    sum = (sum ^ bits) * 1099511628211u;
  }
  return sum;
}

inline inlay::Sampler hashing(inlay::Sampler sampler, std::vector<std::uint64_t>& into) {
  sampler.adjust = [&into](std::span<float> logits, std::span<const inlay::TokenId>) { into.push_back(hash(logits)); };
  return sampler;
}

inline void add(Said& said, const inlay::Token& token) {
  said.tokens.push_back(token.id);
  said.text += token.text;
  said.logprobs.push_back(token.logprob);
  for (const auto& other : token.alternatives) said.logprobs.push_back(other.logprob);
}

inline void add(Said& said, const inlay::Batch::Event& event) {
  if (event.token.id >= 0) add(said, event.token);
  said.finish = event.finish;
}

inline Said say_alone(const inlay::Model& model, const Ask& ask) {
  Said said;
  auto session = model.session();
  auto reply = session.generate(ask.prompt, hashing(ask.sampler, said.logits), ask.limits);
  for (const auto& token : reply) add(said, token);
  said.finish = reply.finish();
  return said;
}

inline std::vector<Said> say_together(const inlay::Model& model, const std::vector<Ask>& asks,
                                      const inlay::Batch::Options& options) {
  std::vector<Said> said(asks.size());
  std::vector<inlay::Session> sessions;
  inlay::Batch batch(model, options);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    auto& session = sessions.emplace_back(model.session());
    batch.submit(session, asks[i].prompt, hashing(asks[i].sampler, said[i].logits), asks[i].limits);
  }
  for (const auto& event : batch) add(said[event.id - 1], event);
  return said;
}

}  // namespace support
