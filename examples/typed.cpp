// An answer as a C++ struct: described once, held to its schema, and filled.
#include <iostream>

#include "inlay/inlay.hpp"

struct Person {
  std::string name;
  int age = 0;
};

template <>
inline constexpr auto inlay::fields<Person> = std::tuple(inlay::field("name", &Person::name),
                                                         inlay::field("age", &Person::age));

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  inlay::Chat chat(model);
  const auto person = chat.ask<Person>("Extract name, age as JSON: Emma Novak is 31 years old and works as a baker.",
                                       inlay::Sampler::greedy());
  std::cout << person->name << " will be " << person->age + 1 << " next year\n";
}
