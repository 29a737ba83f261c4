// Observes functions of the program's libraries: the code before and after them is not on the stack while they run, so
// that warnings and tracebacks name the same frames as without Loopscope.
#pragma once

#include <sys/types.h>

namespace loopscope {

// The entry points (PyMethodDef) of builtins without a self.

// around(original, before, after): a method that calls before(...) with the call's arguments, `original`, and
// after(token, owner, result, raised): what `before` returned, the call's first argument, its result, and whether it
// raised (then the result is None). `before` and `after` may be None.
void* Around(void*, void* const* arguments, ssize_t count) noexcept;

// around_closure(original, before, after): the same as a builtin, which can be freed and does not mimic another
// function: for functions that are only called.
void* AroundClosure(void*, void* const* arguments, ssize_t count) noexcept;

// around_output(original, name): a method whose calls on this thread are recorded as output. `name` is bytes.
void* AroundOutput(void*, void* const* arguments, ssize_t count) noexcept;

// around_print(original, documentation, module): the same as a builtin of `module`, which does not bind to objects. One
// per process. `documentation` is bytes, as in PyMethodDef.
void* AroundPrint(void*, void* const* arguments, ssize_t count) noexcept;

}  // namespace loopscope
