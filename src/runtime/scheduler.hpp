// Which tokens go into the next step: a pure function of the requests, the rules and the room there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/engine.hpp"

namespace inlay::runtime {

// One request as the scheduler sees it, waiting or running.
struct Request {
  std::uint64_t id = 0;  // in the order of submission
  int priority = 0;      // higher goes first
  std::uint64_t tenant = 0;
  std::span<const TokenId> tokens = {};  // of its session, the prompt included
  std::size_t cached = 0;                // of those, read; of a waiting one, what the prefix cache would spare too
  std::size_t most = 0;                  // tokens it can come to
  std::size_t source = 0;                // tokens of an encoder-decoder's source, which has pages of its own
  std::size_t pages = 0;                 // held now, by its source, too; of a waiting one, those that it would share
  std::size_t releasable = 0;            // of those, free again if it falls back to its tokens
  std::uint64_t arrival = 0;             // steps that were done when it came
  bool running = false;
  std::optional<std::string_view> salt = {};  // what it reads serves others of the same salt; none: it serves nobody
};

struct ScheduleRules {
  std::size_t tokens_per_step = 512, sessions_at_once = 64;
  std::size_t sessions_per_tenant = SIZE_MAX;  // of those at once
  std::size_t page = 32;
  bool keeps_states = false;  // only where a step has ended can others go on from what a request has read
};

struct ScheduleRoom {
  std::size_t pages = SIZE_MAX, slots = SIZE_MAX;  // free now
  std::size_t prompt_tokens = SIZE_MAX;            // that fit in the time of a step beside requests that write
};

struct Schedule {
  explicit Schedule(std::pmr::memory_resource* memory) : preempted(memory), admitted(memory), parts(memory) {}
  struct Part {
    std::uint64_t id;
    int tokens;
  };
  std::pmr::vector<std::uint64_t> preempted, admitted;
  std::pmr::vector<Part> parts;  // of the step; those that write come first, with one token each
};

// Whoever came so many steps earlier counts as a level of priority higher: nobody waits for ever.
inline constexpr int patience = 64;

// A request is admitted when what it and all running ones can come to fits in the room, by urgency (priority and age),
// then the longest prefix that is read already. It waits for another of no lower priority that is about to read the
// same beginning, and does not overtake a more urgent one that lacks room. A running one of lower priority and urgency
// makes room by falling back to its tokens. In a step those that write come first; what is left of the budget goes to
// prompts by urgency, then the shortest rest. Where states are kept, they stop where others can go on.
Schedule schedule(std::span<const Request> requests, const ScheduleRules& rules, const ScheduleRoom& room,
                  std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

// The running request to fall back to its tokens when memory runs out after all; none if it would be the only one.
std::optional<std::uint64_t> least_urgent(std::span<const Request> requests);

}  // namespace inlay::runtime
