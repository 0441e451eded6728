// Writes a file beside another and renames it over that one.
#include "base/replacement.hpp"

#include <system_error>

namespace inlay::base {
namespace {

std::filesystem::path beside(std::filesystem::path target, const void* object) {
  target += ".partial-" + name_for(object);
  std::error_code unused;
  std::filesystem::remove(target, unused);  // of a process that had the same number and was ended
  return target;
}

}  // namespace

Replacement::Replacement(const std::string& path)
    : target_(path_of(path)), aside_(beside(target_, this)), file_(aside_, SystemFile::Name::stays) {}

Replacement::~Replacement() {
  file_.close();
  std::error_code unused;
  if (!done_) std::filesystem::remove(aside_, unused);
}

void Replacement::write(std::span<const std::byte> bytes) {
  file_.write(size_, bytes);
  size_ += bytes.size();
}

void Replacement::commit() {
  file_.flush();
  file_.close();
  std::filesystem::rename(aside_, target_);
  done_ = true;
  flush_folder(target_);
}

}  // namespace inlay::base
