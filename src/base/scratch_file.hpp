// A nameless file for this process alone: it is gone when it is closed, however the process ends.
#pragma once

#include "base/system_file.hpp"

namespace inlay::base {

class ScratchFile : public SystemFile {
 public:
  // In a folder, whose path is UTF-8.
  explicit ScratchFile(const std::string& folder)
      : SystemFile(path_of(folder) / (".inlay-" + name_for(this)), Name::goes) {}
};

}  // namespace inlay::base
