// What the C door is made of: handles over the C++ classes, and the one shape in which an exception becomes a status.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <utility>

#include "inlay/inlay.h"
#include "inlay/inlay.hpp"

namespace inlay::api {

// The host's allocator as C++ knows it. Everything that may still release memory shares it.
class HostMemory final : public std::pmr::memory_resource {
 public:
  explicit HostMemory(const inlay_load& load) : load_(load) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* memory = load_.alloc(load_.user, bytes, alignment);
    if (!memory) throw std::bad_alloc();
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    load_.release(load_.user, memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  inlay_load load_;
};

}  // namespace inlay::api

// Members are destroyed last to first: the host's memory outlives what was allocated from it.
struct inlay_model {
  std::shared_ptr<inlay::api::HostMemory> memory;
  inlay::Model model;
};
struct inlay_session {
  std::shared_ptr<inlay::api::HostMemory> memory;
  std::size_t vocabulary;  // the width of a row of logits
  inlay::Session session;
};
struct inlay_generation {
  std::shared_ptr<inlay::api::HostMemory> memory;
  inlay::Generation generation;
  inlay::Generation::iterator at;
  bool started;
};
struct inlay_chat {
  std::shared_ptr<inlay::api::HostMemory> memory;
  inlay::Chat chat;
};
struct inlay_batcher {
  std::shared_ptr<inlay::api::HostMemory> memory;
  inlay::Batch batch;
};
struct inlay_grammar {
  inlay::Grammar grammar;
};
struct inlay_stop {
  std::stop_source source;
};

namespace inlay::api {

// Copies as much as fits, ends with a zero, and cuts no UTF-8 character.
template <std::size_t capacity>
void copy_text(char (&to)[capacity], std::string_view from) {
  auto size = std::min(from.size(), capacity - 1);
  if (size < from.size()) {
    while (size > 0 && (static_cast<unsigned char>(from[size]) & 0xC0) == 0x80) --size;
  }
  std::memcpy(to, from.data(), size);
  to[size] = 0;
}

inline inlay_status report(inlay_error* to, Errc code, Fault fault, std::string_view where, std::string_view message) {
  const auto status = static_cast<inlay_status>(code);
  if (to) {
    to->status = status;
    to->fault = static_cast<inlay_fault>(fault);
    copy_text(to->where, where);
    copy_text(to->message, message);
  }
  return status;
}

// Runs `work`, which returns a status; no exception passes.
template <class Work>
inlay_status status_of(inlay_error* error, Work&& work) noexcept {
  try {
    const inlay_status status = work();
    if (error) *error = inlay_error{status, INLAY_FAULT_NONE, "", ""};
    return status;
  } catch (const Error& e) {
    return report(error, e.code(), e.fault(), e.where(), e.what());
  } catch (const std::bad_alloc&) {
    return report(error, Errc::memory, Fault::none, "", "out of memory");
  } catch (const std::exception& e) {
    return report(error, Errc::argument, Fault::none, "", e.what());
  } catch (...) {
    return report(error, Errc::argument, Fault::none, "",
                  "a function of the host threw something that is no std::exception");
  }
}

// What a pointer argument points to; NULL is an error that names the argument.
template <class T>
T& required(T* pointer, const char* name) {
  if (!pointer) throw Error(Errc::argument, std::string(name) + " is NULL", Fault::none, name);
  return *pointer;
}

// A struct of the caller, who may know fewer fields than we do: what it lacks keeps its usual value.
template <class T>
T versioned(const T* given, const T& usual) {
  T known = usual;
  if (given) std::memcpy(&known, given, std::min(given->size, sizeof(T)));
  known.size = sizeof(T);
  return known;
}

inline std::string_view view(inlay_text text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}
inline inlay_text text(std::string_view view) { return {view.data(), view.size()}; }

template <class T>
std::span<const T> list(const T* elements, std::size_t count, const char* name) {
  if (count > 0) required(elements, name);
  return {elements, count};
}

// Writes as much of a list as the caller has room for, and says how long it is.
template <class List, class T>
inlay_status deliver(const List& from, T* to, std::size_t capacity, std::size_t* count) {
  const auto written = std::min<std::size_t>(from.size(), capacity);
  if (written > 0) std::copy_n(from.begin(), written, &required(to, "the memory for the result"));
  required(count, "count") = from.size();
  return INLAY_OK;
}

inline inlay_stats stats_of(const Stats& stats) {
  return {stats.prompt_tokens,
          stats.reused_tokens,
          stats.known_tokens,
          stats.generated_tokens,
          stats.dropped_tokens,
          stats.dropped_messages,
          static_cast<inlay_reuse_end>(stats.reuse_end),
          static_cast<inlay_speculation>(stats.speculation),
          stats.drafted_tokens,
          stats.accepted_tokens,
          stats.prompt_seconds,
          stats.generate_seconds};
}

// Alternatives have the same two fields in both languages.
inline const inlay_alternative* alternatives(std::span<const Alternative> list) {
  static_assert(sizeof(inlay_alternative) == sizeof(Alternative) &&
                offsetof(inlay_alternative, logprob) == offsetof(Alternative, logprob));
  return reinterpret_cast<const inlay_alternative*>(list.data());
}

// The C recipes as C++ ones.
Sampler sampler_of(const inlay_sampler* given);
Limits limits_of(const inlay_limits* given);

// What C sees of a token; it shares the memory of the C++ one.
inlay_token token_of(const Token& token);

}  // namespace inlay::api
