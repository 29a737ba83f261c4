// The shim's wrappers around a training loop's calls in every step, as builtins. In a real program a wrapper's code is
// not in the caches: one written in Python takes about 10 us there.
#pragma once

#include <sys/types.h>

namespace loopscope {

// The methods' entry points (PyMethodDef), for builtins without a self.

// around_backward(original, on_begin): a function that calls `original` as a pass of backward. `on_begin()` is called
// before the first one, and before each that follows a call of backward_is_due().
void* AroundBackward(void*, void* const* arguments, ssize_t count) noexcept;
void* BackwardIsDue(void*, void* const* arguments, ssize_t count) noexcept;

// around_zero_grad(original, set_to_none): a method that calls `original` as a zero_grad; `set_to_none` is the
// original's default.
void* AroundZeroGrad(void*, void* const* arguments, ssize_t count) noexcept;

// step_hooks(face, begins, ends, describe): a tuple of hooks for what an optimizer does before and after its step. They
// do what `begins` and `ends` do (probes/python/optimizer.py), and leave to these every call with a closure and every
// step inside another's. `describe(optimizer)` returns (number, name, parameters). `face` is a hook that does nothing,
// which torch.compile reads in place of both.
void* StepHooks(void*, void* const* arguments, ssize_t count) noexcept;

}  // namespace loopscope
