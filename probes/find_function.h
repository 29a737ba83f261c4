// Looks up a function of a loaded library by name.
#pragma once

#include <dlfcn.h>

namespace loopscope {

// Whether it is there; else `function` is null, and dlerror() says why.
template <class Function>
bool Find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace loopscope
