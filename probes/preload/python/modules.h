// torch.nn.Module.__call__ as a builtin: a model's call runs it once per inner module.
#pragma once

#include <sys/types.h>

namespace loopscope {

// The entry points (PyMethodDef) of two builtins without a self.

// around_modules(original, run, names, note, is_compiling, treated): a method that calls `original`, and note(module,
// begin_ns, end_ns) after every outermost call. In the detail window each call within it is recorded by the
// name, bytes, that the dict names(outermost module) has for the module's id, or by its class. Where `treated` is true
// an outermost call goes through run(module, ...). While is_compiling() nothing is recorded. `note` returns the
// module's name once its further calls in training mode only need a range recorded, and empty bytes while that is
// unknown; None resets this for all modules, as modules_changed() does.
void* AroundModules(void*, void* const* arguments, ssize_t count) noexcept;
void* ModulesChanged(void*, void* const* arguments, ssize_t count) noexcept;

}  // namespace loopscope
