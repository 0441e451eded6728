// Proves: prompts read beside requests that write hold no step up for longer than asked, whatever machine takes the
// time.
#include "runtime/pace.hpp"

#include <random>

#include "tests/support/catch.hpp"

namespace {

using inlay::runtime::Pace;

// Seconds of a step: memory or arithmetic is the limit, whichever takes longer; more tokens may take another way
// through the kernels; attention grows with what is read already, and with the texts that are written.
struct Machine {
  const char* name;
  std::size_t writing;
  double memory, each, apart, attention, texts, noise;
  std::size_t few = 0;  // tokens that go without the other way

  double seconds(std::size_t prompt, std::size_t depth, std::size_t written) const {
    return std::max(memory, each * double(writing + prompt)) + (prompt > few ? apart : 0) +
           attention * double(prompt * depth) + texts * double(writing * written);
  }
};

constexpr Machine machines[] = {
    {"two cores, 60 MB of weights, as measured", 8, 6.8, 0.42, 0, 2e-4, 0, 0.1},
    {"many cores, many weights", 8, 60, 0.8, 0, 1e-4, 0, 0.1},
    {"arithmetic alone", 8, 0, 0.8, 0, 2e-4, 0, 0.1},
    {"another way for prompts", 8, 7, 0.42, 3, 1e-4, 0, 0.1},
    {"another way for more than eight tokens", 8, 0, 0.42, 0.8, 1e-4, 0, 0.02, 8},
    {"steep attention", 8, 7, 0.2, 0, 5e-4, 0, 0.1},
    {"texts that grow", 8, 3.3, 0.3, 0, 1.5e-4, 1.5e-3, 0.05},
    {"one writes, arithmetic alone", 1, 0, 1, 0, 1e-4, 0, 0.1},
    {"one writes", 1, 6, 0.42, 0, 2e-4, 0, 0.1},
    {"many write", 32, 6, 0.42, 0, 1e-4, 0, 0.1},
};

// What happens on a machine, step by step.
struct Day {
  Day(const Machine& m, unsigned seed) : machine(m), random(seed) {
    for (int i = 0; i < 5; ++i) pace.observe(machine.writing, 0, 0, noisy(machine.seconds(0, 0, written++)));
  }

  double noisy(double seconds) { return seconds * (1 + machine.noise * (2 * double(random() % 10001) / 10000 - 1)); }
  // Returns the tokens of the prompt that were read. A step that is held up: its own length counts for nothing.
  std::size_t step(std::size_t depth, std::size_t unread, bool held_up = false) {
    const auto wanted = pace.prompt_tokens(machine.writing, depth);
    const auto prompt = std::min({wanted, unread, 512 - machine.writing});
    const double seconds = noisy(machine.seconds(prompt, depth, written));
    longest = std::max(longest, seconds / machine.seconds(0, 0, written));
    pace.observe(machine.writing, prompt, depth, held_up ? 10 * seconds : seconds);
    ++steps, ++written;
    return prompt;
  }

  const Machine& machine;
  std::mt19937 random;
  Pace pace{3};
  double longest = 0;  // step, in steps of writing
  std::size_t steps = 0, written = 0;
};

// The fewest steps of three times the length.
std::size_t fewest_steps(const Machine& machine) {
  std::size_t steps = 0;
  for (std::size_t depth = 0; depth < 4000; ++steps) {
    const double most = 3 * machine.seconds(0, 0, steps);
    std::size_t prompt = 1;
    while (prompt < 512 - machine.writing && machine.seconds(prompt + 1, depth, steps) <= most) ++prompt;
    depth += prompt;
  }
  return steps;
}

}  // namespace

TEST_CASE("no step takes more than three times as long as writing alone, and prompts are not starved") {
  for (const auto& machine : machines)
    for (unsigned seed = 0; seed < 30; ++seed) {
      Day day(machine, seed);
      for (std::size_t depth = 0; depth < 4000;) depth += day.step(depth, 4000 - depth, day.steps == 20);
      INFO(machine.name << ", seed " << seed << ", steps " << day.steps << " of " << fewest_steps(machine));
      CHECK(day.longest <= 3);
      CHECK(day.steps <= 3 * fewest_steps(machine) + 10);
    }
}

TEST_CASE("a short prompt that goes before a long one does not let the next step of that take long") {
  for (const auto& machine : machines)
    for (unsigned seed = 0; seed < 30; ++seed) {
      Day day(machine, seed);
      for (std::size_t depth = 0; depth < 4000;) {
        depth += day.step(depth, 4000 - depth);
        if (day.steps % 40 == 0)
          for (std::size_t other = 0; other < 200;) other += day.step(other, 200 - other);
      }
      INFO(machine.name << ", seed " << seed);
      CHECK(day.longest <= 3);
    }
}

TEST_CASE("where nothing was measured, or not for long, a step runs without prompts") {
  Pace pace(3);
  CHECK(pace.prompt_tokens(8, 0) == 0);
  pace.observe(0, 500, 0, 1);  // nobody waited for it
  CHECK(pace.prompt_tokens(8, 0) == 0);
  for (int i = 0; i < 5; ++i) pace.observe(8, 0, 0, 1);
  int steps = 0;
  for (; pace.prompt_tokens(8, 0) > 0; ++steps) pace.observe(8, pace.prompt_tokens(8, 0), 0, 1.9);
  CHECK((steps > 8 && steps < 100));
  pace.observe(8, 0, 0, 2);  // the texts have grown
  CHECK(pace.prompt_tokens(8, 0) > 0);
}

TEST_CASE("one step that was held up changes little, and a prompt always goes on") {
  Pace pace(3);
  const auto write_and_read = [&](std::size_t prompt, double seconds) {
    pace.observe(8, 0, 0, 1);
    pace.observe(8, prompt, 0, seconds);
  };
  for (int i = 0; i < 20; ++i) write_and_read(16, 2);
  const auto before = pace.prompt_tokens(8, 0);
  CHECK((before >= 16 && before <= 28));  // a margin of 1.45, and none
  pace.observe(8, 0, 0, 10);
  CHECK(pace.prompt_tokens(8, 0) == before);
  write_and_read(3, 50);  // the end of a prompt
  CHECK(pace.prompt_tokens(8, 0) >= 1);
  for (int i = 0; i < 8; ++i) {
    const auto prompt = pace.prompt_tokens(8, 0);
    write_and_read(prompt, 1 + double(prompt) / 16);
  }
  CHECK(pace.prompt_tokens(8, 0) >= before - 2);
  CHECK(pace.prompt_tokens(3, 0) > 0);  // the nearest number that was seen
}

TEST_CASE("a prompt that begins deep begins small") {
  Pace pace(3);
  for (int i = 0; i < 5; ++i) pace.observe(8, 0, 0, 1);
  CHECK(pace.prompt_tokens(8, 3000) <= 4);  // nothing is known of it
  for (int i = 0; i < 5; ++i) pace.observe(8, 16, 0, 2);
  CHECK(pace.prompt_tokens(8, 3000) <= 2);
  pace.observe(8, 2, 3000, 1.2);
  CHECK(pace.prompt_tokens(8, 3000) == 4);  // twice as many
}

TEST_CASE("where one token more took too long, no such step is tried again for a while") {
  Pace pace(3);
  const auto seconds = [](std::size_t prompt) { return 1 + 0.1 * double(prompt) + (prompt > 8 ? 1.5 : 0); };
  for (int i = 0; i < 5; ++i) pace.observe(8, 0, 0, 1);
  int late = 0;
  for (int i = 0; i < 200; ++i) {
    const auto prompt = pace.prompt_tokens(8, 0);
    pace.observe(8, prompt, 0, seconds(prompt));
    late += seconds(prompt) > 3;
  }
  CHECK(late <= 200 / 40);
}
