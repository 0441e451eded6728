// The keys of Phi's models.
#pragma once

#include <vector>

#include "conversion/family.hpp"

namespace inlay::inline v0::conversion {

void describe_phi2(const Shape& shape, Metadata& metadata, std::vector<Extra>& extras);
void describe_phi3(const Shape& shape, Metadata& metadata, std::vector<Extra>& extras);

}  // namespace inlay::inline v0::conversion
