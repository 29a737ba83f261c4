// Functions of the program's libraries that are observed from beside: what is called before and after them is gone from
// the stack while they run, so that warnings and tracebacks name the frames that they name without Loopscope.
#pragma once

#include <sys/types.h>

namespace loopscope {

// The entry points (PyMethodDef) of builtins without a self.

// around(original, before, after): a method that calls before(...) with the call's arguments, `original`, and
// after(token, owner, result, raised): what `before` returned, the call's first argument, its result, and whether it
// raised (then the result is None). `before` and `after` may be None.
void* Around(void*, void* const* arguments, ssize_t count) noexcept;

// around_closure(original, before, after): the same as a builtin, which may be freed and looks like no other function:
// for what is only called.
void* AroundClosure(void*, void* const* arguments, ssize_t count) noexcept;

// around_output(original, name): a method whose calls on this thread are recorded as output. `name` is bytes.
void* AroundOutput(void*, void* const* arguments, ssize_t count) noexcept;

// around_print(original, documentation, module): the same as a builtin of `module`, which binds to no object. There is
// one in a process. `documentation` is bytes, as in PyMethodDef.
void* AroundPrint(void*, void* const* arguments, ssize_t count) noexcept;

}  // namespace loopscope
