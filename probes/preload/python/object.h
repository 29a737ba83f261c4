// Helpers of the shim's builtins for Python objects.
#pragma once

#include <cstdint>

#include "probes/preload/python/api.h"

namespace loopscope {

// Calls an item of a tuple. Returns a new reference, or null with an exception set.
inline void* CallItem(void* tuple, ssize_t item, PythonArguments arguments, ssize_t count,
                      void* names = nullptr) noexcept {
  return python.call(python.tuple_item(tuple, item), arguments, static_cast<std::size_t>(count), names);
}

inline bool IsTrue(void* object) noexcept {
  return python.is_true(object) == 1;
}

// Sets a pending exception aside for a scope. An exception raised meanwhile replaces it, as in Python: what a signal
// handler raises must not be lost.
class ErrorAside {
 public:
  ErrorAside() noexcept { python.fetch_error(&type_, &value_, &trace_); }
  ~ErrorAside() {
    if (python.error() == nullptr) {
      python.restore_error(type_, value_, trace_);
      return;
    }
    for (void* const one : {type_, value_, trace_}) {
      if (one != nullptr) python.give(one);
    }
  }
  ErrorAside(const ErrorAside&) = delete;
  ErrorAside& operator=(const ErrorAside&) = delete;

 private:
  void *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

inline void* WrongArguments() noexcept {
  python.set_error(*python.type_error, "wrong number of arguments");
  return nullptr;
}

}  // namespace loopscope
