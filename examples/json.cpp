// An answer that is always valid under a JSON schema.
#include <iostream>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  inlay::Chat chat(model);
  const inlay::Sampler sampler{.grammar = inlay::Grammar::json_schema(R"({
      "type": "object",
      "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
      "required": ["name", "age"], "additionalProperties": false})"),
                               .temperature = 0};
  std::cout << chat.say("Extract name, age as JSON: Emma Novak is 31 years old and works as a baker.", sampler).text()
            << '\n';
}
