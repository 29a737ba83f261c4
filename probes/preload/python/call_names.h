// A called function's name in reports: as the program would write it ("gc.collect", "numpy.histogram", "torch.tensor").
// Called under the interpreter's lock, with no exception pending.
#pragma once

#include <cstdint>

#include "probes/preload/python/code.h"

namespace loopscope {

// String id of the function that runs in `frame`. 0: a wrapper with a meaningless name; use what it calls.
std::uint32_t NameOfFrame(void* frame, Code& code) noexcept;

// The same of a builtin (the argument of the interpreter's event for calls of C functions).
std::uint32_t NameOfBuiltin(void* function) noexcept;

// Whether this process's Python has what this needs.
bool FindCallNames() noexcept;

}  // namespace loopscope
