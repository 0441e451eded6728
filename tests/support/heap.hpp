// The heap of this executable: counted, and made to fail where a test asks.
#pragma once

#include <cstddef>

namespace heap {

std::size_t used();         // bytes allocated now
std::size_t allocations();  // so far

// The most bytes that were in use since `mark_peak`.
void mark_peak();
std::size_t peak();

// Lets the allocation after `allocations` more fail, once or from then on; and stops that.
void fail_after(std::size_t allocations, bool for_ever);
bool never_fail();  // whether an allocation has failed since fail_after

}  // namespace heap
