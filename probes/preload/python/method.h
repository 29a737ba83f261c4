// Callables that replace a function of a class and look like it.
#pragma once

#include <cstddef>

#include "probes/preload/python/api.h"

namespace loopscope {

// `objects` is the tuple that the method was made with.
using MethodBody = void*(void* objects, PythonArguments arguments, ssize_t count, void* names) noexcept;
using Vectorcall = void*(void* method, PythonArguments arguments, std::size_t count, void* names);

// The objects of a method (the first is the function that it replaces).
void* ObjectsOf(void* method) noexcept;

// A callable that binds, is pickled and weakly referenced like a function and has the attributes of the first object:
// torch.compile, for one, reads that one's code in its place. It is never freed: it replaces a function for the
// process's lifetime. Null, with an exception set, where it cannot be made.
void* MakeMethod(Vectorcall* call, void* objects) noexcept;

template <MethodBody body, class... Objects>
void* NewMethod(Objects... objects) noexcept {
  constexpr std::size_t kCount = ~std::size_t{0} >> 1;  // without the flag that the arguments may be moved
  Vectorcall* const call = [](void* method, PythonArguments arguments, std::size_t count, void* names) -> void* {
    return body(ObjectsOf(method), arguments, static_cast<ssize_t>(count & kCount), names);
  };
  void* const tuple = python.new_tuple(sizeof...(objects), objects...);
  void* const made = tuple != nullptr ? MakeMethod(call, tuple) : nullptr;
  if (tuple != nullptr) python.give(tuple);
  return made;
}

}  // namespace loopscope
