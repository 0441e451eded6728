// Admission, preemption, and the sharing out of a step.
#include "runtime/scheduler.hpp"

#include <algorithm>

namespace inlay::runtime {

namespace {

using Ranked = std::pmr::vector<const Request*>;

std::size_t unread(const Request& request) { return request.tokens.size() - request.cached; }
bool writes(const Request& request) { return unread(request) == 1; }
std::int64_t urgency(const Request& request) {
  return request.priority - std::int64_t(request.arrival / std::uint64_t(patience));
}

bool by_urgency(const Request& a, const Request& b, std::size_t rank_of_a, std::size_t rank_of_b) {
  if (urgency(a) != urgency(b)) return urgency(a) > urgency(b);
  return rank_of_a != rank_of_b ? rank_of_a < rank_of_b : a.id < b.id;
}
bool longest_prefix_first(const Request* a, const Request* b) { return by_urgency(*a, *b, b->cached, a->cached); }
bool shortest_rest_first(const Request* a, const Request* b) { return by_urgency(*a, *b, unread(*a), unread(*b)); }
bool least_urgent_first(const Request* a, const Request* b) {
  return urgency(*a) != urgency(*b) ? urgency(*a) < urgency(*b) : a->id > b->id;
}

class Scheduling {
 public:
  Scheduling(const ScheduleRules& rules, const ScheduleRoom& room, std::pmr::memory_resource* memory)
      : rules_(rules), room_(room), running_(memory), followers_(memory), result_(memory) {}

  Schedule run(std::span<const Request> requests) {
    Ranked waiting(running_.get_allocator());
    for (const auto& request : requests) (request.running ? running_ : waiting).push_back(&request);
    for (const auto* request : running_) promised_ += growth(*request);
    std::sort(waiting.begin(), waiting.end(), longest_prefix_first);
    std::optional<std::int64_t> lacks_room;
    for (const auto* request : waiting) {
      if (lacks_room && urgency(*request) < *lacks_room) break;
      if (of_tenant(request->tenant) >= rules_.sessions_per_tenant) continue;
      if (follows(*request))
        followers_.push_back(request);
      else if (fits(*request, 0) || make_room(*request))
        admit(*request);
      else
        lacks_room = std::max(urgency(*request), lacks_room.value_or(INT64_MIN));
    }
    share_out();
    return std::move(result_);
  }

 private:
  std::size_t pages_of(std::size_t tokens) const { return (tokens + rules_.page - 1) / rules_.page; }
  std::size_t growth(const Request& request) const {
    const auto most = pages_of(request.most) + pages_of(request.source);
    return most > request.pages ? most - request.pages : 0;
  }
  std::size_t of_tenant(std::uint64_t tenant) const {
    return std::size_t(std::count_if(running_.begin(), running_.end(),
                                     [&](const Request* request) { return request->tenant == tenant; }));
  }

  std::size_t whole_pages(std::size_t tokens) const { return tokens / rules_.page * rules_.page; }

  // How much of what another is about to read this one could take over; 0: no page more than is there already.
  std::size_t shares_with(const Request& request, const Request& leader) const {
    if (writes(leader) || !leader.salt || request.salt != leader.salt) return 0;
    const auto a = request.tokens, b = leader.tokens;
    const auto same = std::size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    const auto useful = whole_pages(std::min(same, a.size() - 1));
    return useful > std::max(request.cached, leader.cached) ? useful : 0;
  }
  bool follows(const Request& request) const {
    return std::any_of(running_.begin(), running_.end(), [&](const Request* leader) {
      return leader->priority >= request.priority && shares_with(request, *leader) > 0;
    });
  }

  // How far a prompt is read at once: to its end, or to where a state is kept for others.
  std::size_t next_stop(const Request& request) const {
    const auto size = request.tokens.size(), last = whole_pages(size - 1);
    if (!rules_.keeps_states || !request.salt) return size;
    auto stop = last > request.cached ? last : size;
    for (const auto* follower : followers_)
      if (const auto useful = shares_with(*follower, request)) stop = std::min(stop, useful);
    return stop;
  }

  // Whether it fits when the `gone` least urgent running ones, sorted to the front, have fallen back to their tokens.
  bool fits(const Request& request, std::size_t gone) const {
    if (running_.size() == gone) return rules_.sessions_at_once > 0;  // nobody else is left to need the room
    auto pages = room_.pages, promised = promised_;
    for (std::size_t i = 0; i < gone; ++i) {
      pages += std::min(running_[i]->releasable, SIZE_MAX - pages);
      promised -= growth(*running_[i]);
    }
    return running_.size() - gone < rules_.sessions_at_once && (gone > 0 || room_.slots > 0) &&
           (promised + growth(request) <= pages);
  }

  bool make_room(const Request& request) {
    std::sort(running_.begin(), running_.end(), [&](const Request* a, const Request* b) {
      const bool first = may_displace(request, *a), second = may_displace(request, *b);
      return first != second ? first : least_urgent_first(a, b);
    });
    std::size_t gone = 0;
    while (gone < running_.size() && may_displace(request, *running_[gone])) {
      if (!fits(request, ++gone)) continue;
      for (std::size_t i = 0; i < gone; ++i) preempt(*running_[i]);
      running_.erase(running_.begin(), running_.begin() + std::ptrdiff_t(gone));
      return true;
    }
    return false;
  }

  static bool may_displace(const Request& request, const Request& other) {
    return other.running && other.priority < request.priority && urgency(other) < urgency(request);
  }
  void preempt(const Request& request) {
    result_.preempted.push_back(request.id);
    promised_ -= growth(request);
    if (room_.pages != SIZE_MAX) room_.pages += request.releasable;
    if (room_.slots != SIZE_MAX) ++room_.slots;
  }
  void admit(const Request& request) {
    result_.admitted.push_back(request.id);
    running_.push_back(&request);
    promised_ += growth(request);
    if (room_.slots != SIZE_MAX && room_.slots > 0) --room_.slots;
  }

  void share_out() {
    auto left = rules_.tokens_per_step;
    const auto give = [&](const Request& request, std::size_t tokens) {
      if (tokens == 0) return;
      result_.parts.push_back({request.id, int(tokens)});
      left -= tokens;
    };
    std::sort(running_.begin(), running_.end(), shortest_rest_first);
    for (const auto* request : running_)
      if (writes(*request)) give(*request, std::min<std::size_t>(1, left));
    if (!result_.parts.empty()) left = std::min(left, room_.prompt_tokens);
    for (const auto* request : running_)
      if (!writes(*request)) give(*request, std::min(next_stop(*request) - request->cached, left));
  }

  const ScheduleRules& rules_;
  ScheduleRoom room_;
  Ranked running_, followers_;
  std::size_t promised_ = 0;  // pages that the running ones can come to need
  Schedule result_;
};

}  // namespace

Schedule schedule(std::span<const Request> requests, const ScheduleRules& rules, const ScheduleRoom& room,
                  std::pmr::memory_resource* memory) {
  return Scheduling(rules, room, memory).run(requests);
}

std::optional<std::uint64_t> least_urgent(std::span<const Request> requests) {
  const Request* least = nullptr;
  std::size_t running = 0;
  for (const auto& request : requests) {
    if (!request.running) continue;
    ++running;
    if (!least || least_urgent_first(&request, least)) least = &request;
  }
  return running > 1 ? std::optional(least->id) : std::nullopt;
}

}  // namespace inlay::runtime
