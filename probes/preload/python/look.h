// Calls a function of the shim from outside the interpreter, between two steps. Exceptions of signal handlers or other
// threads meanwhile belong to the program: they are raised as soon as the interpreter continues.
#pragma once

#include "probes/preload/python/api.h"

namespace loopscope {

// set_look(callable): called before each step whose calls are followed (following::CallBefore).
void* SetLook(void* self, PythonArguments arguments, ssize_t count) noexcept;

}  // namespace loopscope
