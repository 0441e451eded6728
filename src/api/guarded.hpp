// What the standard library throws for want of memory leaves the door as an Error like any other.
#pragma once

#include <new>

#include "inlay/error.hpp"

namespace inlay::api {

template <class Function>
decltype(auto) guarded(const Function& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    throw Error(Errc::memory, "out of memory");
  }
}

}  // namespace inlay::api
