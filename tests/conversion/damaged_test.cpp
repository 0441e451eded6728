// Folders from anywhere: every cut and changed file is refused by an Error, or read; what was there before stays.
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "conversion/safetensors.hpp"
#include "conversion/sentencepiece_model.hpp"
#include "tests/conversion/helpers.hpp"
#include "tests/support/mutations.hpp"

using inlay::Errc;
using inlay::Error;
using inlay::Fault;
using nlohmann::json;
using support::Bytes;
using support::Work;

namespace {

Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

Bytes read_bytes(const std::string& path) { return bytes_of(support::read(path)); }

// A file with this header and so many bytes of data.
Bytes with_header(std::string_view header, std::size_t data) {
  const std::uint64_t size = header.size();
  Bytes file(sizeof(size));
  std::memcpy(file.data(), &size, sizeof(size));
  const auto content = bytes_of(header);
  file.insert(file.end(), content.begin(), content.end());
  file.resize(file.size() + data);
  return file;
}

// Whether reading ends well; anything but an Error of format fails the test.
template <class Read>
bool reads(const Read& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == Errc::format);
    return false;
  }
}

Fault fault_of(const Bytes& file) {
  try {
    inlay::conversion::read_safetensors(file, "model.safetensors");
    return Fault::none;
  } catch (const Error& error) {
    return error.fault();
  }
}

Error refusal(const Work& work) {
  try {
    inlay::convert(work.path(), work.file("out.gguf"));
  } catch (const Error& error) {
    return error;
  }
  return {Errc::io, "nothing was refused"};
}

void edit(const Work& work, const std::string& file, const std::function<void(json&)>& change) {
  auto content = json::parse(support::read(work.file(file)));
  change(content);
  work.write(file, content.dump());
}

}  // namespace

TEST_CASE("a safetensors file that is cut is refused") {
  const Bytes whole = read_bytes(support::model_folder("qwen3") + "/model.safetensors");
  for (std::size_t size = 0; size < whole.size(); size += size < 4096 ? 1 : 97) {
    const Bytes prefix(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    INFO(size);
    CHECK(!reads([&] { inlay::conversion::read_safetensors(prefix, "model.safetensors"); }));
  }
}

TEST_CASE("a changed safetensors file is refused or read") {
  const Bytes whole = read_bytes(support::model_folder("qwen3") + "/model.safetensors");
  support::each_mutation(whole, 500, [](const std::string& name, const Bytes& copy) {
    INFO(name);
    reads([&] {
      for (const auto& tensor : inlay::conversion::read_safetensors(copy, "model.safetensors")) {
        REQUIRE(tensor.data.data() >= copy.data());
        REQUIRE(tensor.data.data() + tensor.data.size() <= copy.data() + copy.size());
      }
    });
  });
}

TEST_CASE("a safetensors header says what it must, or is refused by name") {
  const auto fault = [](std::string_view header) { return fault_of(with_header(header, 8)); };
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})") == Fault::none);
  CHECK(fault(R"({"__metadata__":{"x":"y"},"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}})") == Fault::none);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})") == Fault::out_of_bounds);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})") == Fault::inconsistent);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,8]}})") ==
        Fault::overflow);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})") == Fault::bad_dims);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})") == Fault::bad_dims);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})") == Fault::out_of_bounds);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[-1,8]}})") == Fault::bad_value);
  CHECK(fault(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})") == Fault::bad_type);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})") == Fault::inconsistent);
  CHECK(
      fault(
          R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})") ==
      Fault::inconsistent);
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})") == Fault::inconsistent);
  CHECK(fault(R"({"a":1,"a":2})") == Fault::duplicate);
  CHECK(fault(std::string(100000, '[')) == Fault::limit);
  CHECK(fault("[1]") == Fault::wrong_type);
  CHECK(fault("{") == Fault::bad_value);
  Bytes endless(16, std::byte{0xFF});
  CHECK(fault_of(endless) == Fault::limit);
}

TEST_CASE("a damaged tokenizer.model is refused or read") {
  const Bytes whole = read_bytes(support::model_folder("mistral") + "/tokenizer.model");
  const auto read = [](const Bytes& copy) {
    return reads([&] { inlay::conversion::read_sentencepiece_model(copy, "tokenizer.model"); });
  };
  CHECK(read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    read(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
  support::each_mutation(whole, 500, [&](const std::string&, const Bytes& copy) { read(copy); });
}

TEST_CASE("damaged settings and tokenizers end in an error or a file") {
  const std::string model = "qwen2";
  std::mt19937_64 random(3);
  for (const std::string file : {"config.json", "tokenizer.json", "tokenizer_config.json"}) {
    const Bytes whole = read_bytes(support::model_folder(model) + "/" + file);
    const Work work;
    work.copy(model);
    for (int i = 0; i < 60; ++i) {
      const Bytes copy = support::mutations::random_change(whole, random);
      work.write(file, {reinterpret_cast<const char*>(copy.data()), copy.size()});
      try {
        inlay::convert(work.path(), work.file("out.gguf"));
      } catch (const Error& error) {
        CHECK((error.code() == Errc::format || error.code() == Errc::unsupported));
      }
    }
  }
}

TEST_CASE("what was there before stays when a conversion fails or is given up") {
  const Work work;
  work.copy("llama");
  work.write("out.gguf", "as before");
  edit(work, "config.json", [](json& config) { config["architectures"] = {"BertModel"}; });
  auto error = refusal(work);
  CHECK(error.code() == Errc::unsupported);
  CHECK(std::string(error.what()).find("BertModel") != std::string::npos);
  const auto give_up = [](float done) { return done < 0.5f; };
  CHECK_THROWS_AS(inlay::convert(support::model_folder("llama"), work.file("out.gguf"), {.progress = give_up}), Error);
  CHECK(support::read(work.file("out.gguf")) == "as before");
}

TEST_CASE("a part that is missing, elsewhere, or lacks a tensor is refused") {
  const Work work;
  work.copy("llama");
  edit(work, "model.safetensors.index.json",
       [](json& index) { index["weight_map"]["model.extra.weight"] = "model-00001-of-00003.safetensors"; });
  CHECK(refusal(work).fault() == Fault::missing_tensor);
  edit(work, "model.safetensors.index.json",
       [](json& index) { index["weight_map"]["model.extra.weight"] = "../model.safetensors"; });
  CHECK(refusal(work).where() == "weight_map");
  edit(work, "model.safetensors.index.json",
       [](json& index) { index["weight_map"]["model.extra.weight"] = "absent.safetensors"; });
  CHECK(refusal(work).code() == Errc::io);
}

TEST_CASE("settings that cannot be are refused by key") {
  const auto where = [](const std::function<void(json&)>& change) {
    const Work work;
    work.copy("llama");
    edit(work, "config.json", change);
    return refusal(work).where();
  };
  CHECK(where([](json& config) { config.erase("hidden_size"); }) == "hidden_size");
  CHECK(where([](json& config) { config["hidden_size"] = "wide"; }) == "hidden_size");
  CHECK(where([](json& config) { config["num_hidden_layers"] = -1; }) == "num_hidden_layers");
  CHECK(where([](json& config) { config["vocab_size"] = 2000000000; }) == "vocab_size");
  CHECK(where([](json& config) { config["vocab_size"] = 100; }) == "vocab_size");
  CHECK(where([](json& config) { config["head_dim"] = 2000000000; }) == "head_dim");
  CHECK(where([](json& config) { config["rope_scaling"]["rope_type"] = "new"; }) == "rope_type");
  CHECK(where([](json& config) { config["quantization_config"] = {{"bits", 4}}; }) == "quantization_config");
  CHECK(where([](json& config) { config["num_attention_heads"] = 3; }).find("q_proj") != std::string::npos);
}
