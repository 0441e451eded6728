// Opens files and memory, and joins the parts of a split model into one.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <system_error>

#include "base/memory.hpp"
#include "gguf/parser.hpp"

namespace inlay::inline v0::gguf {
namespace {

constexpr std::int64_t max_parts = 99999;  // five digits in the names

std::string_view plain_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string part_suffix(std::int64_t part, std::int64_t parts) {
  return fmt::format("-{:05}-of-{:05}.gguf", part + 1, parts);
}

// How the parts of a model are opened.
struct Opening {
  base::Mapping::Way way;
  const base::Mapping::Probe& probe;
  std::pmr::memory_resource* memory;
};

FileState parse_file(const std::string& path, const Opening& opening) {
  FileState state(opening.memory);
  state.name = plain_name(path);
  try {
    state.mappings.push_back(base::Mapping::open(path, opening.way, opening.probe));
  } catch (const std::system_error& error) {
    throw Error(Errc::io, fmt::format("cannot open {}: {}", state.name, error.code().message()));
  }
  Parser::parse(state.mappings.back().content(), state);
  return state;
}

// The value of a key that numbers or counts parts.
std::int64_t part_number(const FileState& state, std::string_view key, std::int64_t end) {
  const auto value = state.scalar(key, &Value::integer, "an integer");
  if (value >= 0 && value < end) return value;
  fail(state.name, Fault::bad_value, fmt::format("key {}: {} is not from 0 to {}", quoted(key), value, end - 1), key);
}

void append_tensors(FileState& model, FileState& part) {
  model.tensors.insert(model.tensors.end(), std::move_iterator(part.tensors.begin()),
                       std::move_iterator(part.tensors.end()));
  std::ranges::move(part.mappings, std::back_inserter(model.mappings));
  std::ranges::move(part.shapes, std::back_inserter(model.shapes));
  model.bytes += part.bytes;
}

void check_joined(FileState& model) {
  if (const Tensor* twice = order_by_name(model.tensors, model.tensor_order)) {
    fail(model.name, Fault::duplicate, fmt::format("tensor {} is in two parts", quoted(twice->name)), twice->name);
  }
  constexpr std::string_view total = "split.tensors.count";
  if (model.find(total) == nullptr) return;
  const auto expected = model.scalar(total, &Value::integer, "an integer");
  if (expected >= 0 && static_cast<std::uint64_t>(expected) == model.tensors.size()) return;
  fail(model.name, Fault::inconsistent,
       fmt::format("key {} announces {} tensors, the parts have {}", quoted(total), expected, model.tensors.size()),
       total);
}

// Opens the other parts of the model of which `opened`, the file at `path`, is one. Their names come from `path` alone.
FileState join_parts(FileState opened, std::string path, const Opening& opening) {
  if (opened.find("split.count") == nullptr) return opened;
  const auto parts = part_number(opened, "split.count", max_parts + 1);
  if (parts < 2) return opened;
  const auto own = part_number(opened, "split.no", parts);
  const std::string suffix = part_suffix(own, parts);
  if (!path.ends_with(suffix)) {
    fail(opened.name, Fault::inconsistent,
         fmt::format("this is part {} of {}, so its name must end with {}", own + 1, parts, suffix), "split.no");
  }
  path.resize(path.size() - suffix.size());
  FileState model(opening.memory);
  for (std::int64_t i = 0; i < parts; ++i) {
    // NOLINTNEXTLINE(bugprone-use-after-move): `own` comes once
    FileState part = i == own ? std::move(opened) : parse_file(path + part_suffix(i, parts), opening);
    if (part_number(part, "split.no", max_parts) != i || part_number(part, "split.count", max_parts + 1) != parts) {
      fail(part.name, Fault::inconsistent, fmt::format("it does not say that it is part {} of {}", i + 1, parts),
           "split.no");
    }
    if (i == 0) {
      model = std::move(part);
    } else {
      append_tensors(model, part);
    }
  }
  check_joined(model);
  return model;
}

// Runs `work`; a lack of memory becomes an Error.
template <class Work>
auto guarded(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(Errc::memory, "there is not enough memory to open the GGUF file");
  }
}

}  // namespace

File Parser::share(FileState&& state, std::pmr::memory_resource* memory) {
  return File(base::make_shared<const FileState>(memory, std::move(state)));
}

File Parser::open(const std::string& path, const OpenOptions& options, const base::Mapping::Probe& probe) {
  const Opening opening{options.copy ? base::Mapping::Way::copy : base::Mapping::Way::map, probe,
                        base::or_heap(options.memory)};
  FileState state = parse_file(path, opening);
  if (options.split) state = join_parts(std::move(state), path, opening);
  return share(std::move(state), opening.memory);
}

File Parser::read(std::span<const std::byte> file, std::pmr::memory_resource* memory) {
  FileState state(base::or_heap(memory));
  if (reinterpret_cast<std::uintptr_t>(file.data()) % sizeof(std::uint64_t) != 0) {
    state.copy.resize((file.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    std::memcpy(state.copy.data(), file.data(), file.size());
    file = std::as_bytes(std::span(state.copy)).first(file.size());
  }
  parse(file, state);
  return share(std::move(state), base::or_heap(memory));
}

File File::open(std::string_view path, const OpenOptions& options) {
  return guarded([&] { return Parser::open(std::string(path), options); });
}

File File::read(std::span<const std::byte> file, std::pmr::memory_resource* memory) {
  return guarded([&] { return Parser::read(file, memory); });
}

}  // namespace inlay::inline v0::gguf
