// Calls a function of the shim from outside the interpreter, between two steps. What a signal's handler or another
// thread raises meanwhile is the program's: it is raised as soon as the interpreter goes on.
#pragma once

#include "probes/preload/python/api.h"

namespace loopscope {

// set_look(callable): called before each step whose calls are followed (following::CallBefore).
void* SetLook(void* self, PythonArguments arguments, ssize_t count) noexcept;

}  // namespace loopscope
