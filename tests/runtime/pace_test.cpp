// Proves: prompts read beside requests that write hold no step up for longer than asked, whatever machine takes the
// time.
#include "runtime/pace.hpp"

#include <random>

#include "tests/support/catch.hpp"

namespace {

using inlay::runtime::Pace;

// Seconds of a step: memory or arithmetic is the limit, whichever takes longer; more tokens may take another way
// through the kernels; attention grows with what is read already.
struct Machine {
  const char* name;
  std::size_t writing;
  double memory, each, apart, attention, noise;

  double seconds(std::size_t prompt, std::size_t depth) const {
    return std::max(memory, each * double(writing + prompt)) + (prompt > 0 ? apart : 0) +
           attention * double(prompt * depth);
  }
};

constexpr Machine machines[] = {
    {"two cores, 60 MB of weights, as measured", 8, 6.8, 0.42, 0, 2e-4, 0.1},
    {"many cores, many weights", 8, 60, 0.8, 0, 1e-4, 0.1},
    {"arithmetic alone", 8, 0, 0.8, 0, 2e-4, 0.1},
    {"another way for prompts", 8, 7, 0.42, 3, 1e-4, 0.1},
    {"steep attention", 8, 7, 0.2, 0, 5e-4, 0.1},
    {"one writes, arithmetic alone", 1, 0, 1, 0, 1e-4, 0.1},
    {"one writes", 1, 6, 0.42, 0, 2e-4, 0.1},
    {"many write", 32, 6, 0.42, 0, 1e-4, 0.1},
};

struct Day {
  double longest = 0;  // step, in steps of writing
  std::size_t steps = 0;
};

// A prompt of 4,000 tokens beside those that write. One step is held up: its own length counts for nothing.
Day read_prompt(const Machine& machine, unsigned seed) {
  std::mt19937 random(seed);
  const auto noisy = [&](double seconds) {
    return seconds * (1 + machine.noise * (2 * double(random() % 10001) / 10000 - 1));
  };
  Pace pace;
  for (int i = 0; i < 5; ++i) pace.observe(machine.writing, 0, noisy(machine.seconds(0, 0)));
  Day day;
  for (std::size_t depth = 0; depth < 4000; ++day.steps) {
    const auto wanted = pace.prompt_tokens(machine.writing, 3);
    const auto prompt = std::min({wanted, 4000 - depth, 512 - machine.writing});
    const double seconds = noisy(machine.seconds(prompt, depth));
    day.longest = std::max(day.longest, seconds / machine.seconds(0, 0));
    pace.observe(machine.writing, prompt, day.steps == 20 ? 10 * seconds : seconds);
    depth += prompt;
  }
  return day;
}

// The fewest steps of three times the length.
std::size_t fewest_steps(const Machine& machine) {
  std::size_t steps = 0;
  for (std::size_t depth = 0; depth < 4000; ++steps) {
    std::size_t prompt = 1;
    while (prompt < 512 - machine.writing && machine.seconds(prompt + 1, depth) <= 3 * machine.seconds(0, 0)) ++prompt;
    depth += prompt;
  }
  return steps;
}

}  // namespace

TEST_CASE("no step takes more than three times as long as writing alone, and prompts are not starved") {
  for (const auto& machine : machines)
    for (unsigned seed = 0; seed < 30; ++seed) {
      const auto day = read_prompt(machine, seed);
      INFO(machine.name << ", seed " << seed);
      CHECK(day.longest <= 3);
      CHECK(day.steps <= 3 * fewest_steps(machine) + 10);
    }
}

TEST_CASE("where nothing was measured, or not for long, a step runs without prompts") {
  Pace pace;
  CHECK(pace.prompt_tokens(8, 3) == 0);
  pace.observe(0, 500, 1);  // nobody waited for it
  CHECK(pace.prompt_tokens(8, 3) == 0);
  for (int i = 0; i < 5; ++i) pace.observe(8, 0, 1);
  int steps = 0;
  for (; pace.prompt_tokens(8, 3) > 0; ++steps) pace.observe(8, pace.prompt_tokens(8, 3), 1.9);
  CHECK((steps > 30 && steps < 1000));
  pace.observe(8, 0, 2);  // the texts have grown
  CHECK(pace.prompt_tokens(8, 3) > 0);
}

TEST_CASE("one step that was held up changes little, and a prompt always goes on") {
  Pace pace;
  for (int i = 0; i < 5; ++i) pace.observe(8, 0, 1);
  for (int i = 0; i < 20; ++i) pace.observe(8, 16, 2);
  const auto before = pace.prompt_tokens(8, 3);
  CHECK((before >= 12 && before <= 17));
  pace.observe(8, 0, 10);
  CHECK(pace.prompt_tokens(8, 3) == before);
  pace.observe(8, 3, 50);  // the end of a prompt
  CHECK(pace.prompt_tokens(8, 3) >= 1);
  for (int i = 0; i < 8; ++i) {
    const auto prompt = pace.prompt_tokens(8, 3);
    pace.observe(8, prompt, 1 + double(prompt) / 16);
  }
  CHECK(pace.prompt_tokens(8, 3) >= before - 2);
  CHECK(pace.prompt_tokens(3, 3) > 0);  // the nearest number that was seen
  CHECK(pace.prompt_tokens(8, 1) == 1);
}
