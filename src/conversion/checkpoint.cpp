// Parts are files of the folder itself, whatever an index says.
#include "conversion/checkpoint.hpp"

#include <fmt/format.h>

#include <set>

namespace inlay::inline v0::conversion {
namespace {

constexpr std::string_view whole = "model.safetensors", index = "model.safetensors.index.json";

struct Listing {
  std::set<std::string> files, tensors;
};

Listing read_index(const Folder& folder) {
  const Json json = folder.json(index);
  const Json* map = json.find("weight_map");
  const auto refuse = [](Fault fault, std::string_view what) {
    throw Error(Errc::format, fmt::format("{}: {}", index, what), fault, "weight_map");
  };
  if (!map || map->members().empty()) refuse(Fault::missing_key, "\"weight_map\" is missing");
  Listing listing;
  for (const Member& entry : map->members()) {
    const std::string file(entry.value.text());
    const bool plain = file.ends_with(".safetensors") && file.find_first_of("/\\:") == std::string::npos &&
                       file.find('\0') == std::string::npos;
    if (!plain) refuse(Fault::bad_value, "\"weight_map\" names what is no file of the folder");
    listing.files.insert(file);
    listing.tensors.insert(entry.name);
  }
  return listing;
}

}  // namespace

Checkpoint::Checkpoint(const Folder& folder) {
  const bool listed = folder.has(index);
  Listing listing;
  if (listed) {
    listing = read_index(folder);
  } else {
    listing.files.insert(std::string(whole));
  }
  std::set<std::string> names;
  for (const std::string& file : listing.files) {
    auto mapping = folder.open(file);
    auto tensors = read_safetensors(mapping.content(), file);
    for (const Stored& tensor : tensors) {
      if (!names.insert(tensor.name).second)
        throw Error(Errc::format, fmt::format("{}: tensor \"{}\" is in another part, too", file, tensor.name),
                    Fault::duplicate, tensor.name);
    }
    parts_.push_back({std::move(mapping), std::move(tensors)});
  }
  for (const std::string& name : listing.tensors) {
    if (!names.contains(name))
      throw Error(Errc::format, fmt::format("{}: tensor \"{}\" is in no part", index, name), Fault::missing_tensor,
                  name);
  }
}

}  // namespace inlay::inline v0::conversion
