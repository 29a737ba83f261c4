// What the Python shim calls in every step, as builtin functions: a call through ctypes costs several times as much and
// evicts more of the program's data from the caches. In a real program a wrapper's own code is not in the caches
// either: one written in Python takes about 10 us there. What takes (self, arguments, count) is the entry point
// (PyMethodDef) of a builtin without a self.
#pragma once

#include <sys/types.h>

#include "probes/preload/python/api.h"

namespace loopscope {

// Observes functions of the program's libraries: the code before and after them is not on the stack while they run, so
// that warnings and tracebacks name the same frames as without Loopscope.

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

// Wrappers around a training loop's calls in every step.

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

// torch.nn.Module.__call__ as a builtin: a model's call runs it once per inner module.

// around_modules(original, run, names, note, is_compiling, treated): a method that calls `original`, and note(module,
// begin_ns, end_ns) after every outermost call. In the detail window each call within it is recorded by the
// name, bytes, that the dict names(outermost module) has for the module's id, or by its class. Where `treated` is true
// an outermost call goes through run(module, ...). While is_compiling() nothing is recorded. `note` returns the
// module's name once its further calls in training mode only need a range recorded, and empty bytes while that is
// unknown; None resets this for all modules, as modules_changed() does.
void* AroundModules(void*, void* const* arguments, ssize_t count) noexcept;
void* ModulesChanged(void*, void* const* arguments, ssize_t count) noexcept;

// A DataLoader's iterator: the calls of every batch, as builtins. The shim (probes/python/loader.py) handles a pass's
// first batches, and hands over the pass that is trained on.

// around_next(original, gave, ran_out) and around_next_index(original, keep): methods that replace an iterator's
// __next__ and _next_index. Where its pass was not handed over, gave(iterator, begin_ns, batch) is called after each
// batch, and keep(iterator, index) after each index. ran_out(iterator, begin_ns) is called at the end of every pass.
void* AroundNext(void*, void* const* arguments, ssize_t count) noexcept;
void* AroundNextIndex(void*, void* const* arguments, ssize_t count) noexcept;

// pass_goes_on(iterator, given, loader, name, append, popleft, of_batch, of_pass): hands a pass over in place of the
// one before. `given` is the address of its count of batches, which must stay until pass_stops(). `append` and
// `popleft` keep and give the indices of batches that were asked for; or they are None, and the sizes of a batch and of
// the whole pass give the samples in each batch. pass_stops() takes the pass back.
void* PassGoesOn(void*, void* const* arguments, ssize_t count) noexcept;
void* PassStops(void*, void* const* arguments, ssize_t count) noexcept;

// Calls a function of the shim from outside the interpreter, between two steps. Exceptions of signal handlers or other
// threads meanwhile belong to the program: they are raised as soon as the interpreter continues.

// set_look(callable): called before each step whose calls are followed (following::CallBefore).
void* SetLook(void* self, PythonArguments arguments, ssize_t count) noexcept;

}  // namespace loopscope

extern "C" {

// A new dict (PyObject*) of builtins, named as in probes/preload/python/script.h without loopscope_script_; null where
// the process's Python lacks what they need. Texts are bytes objects. The caller holds the interpreter's lock.
//   loader_gave(loader, begin_ns, name, samples)       without indices
//   backward_begins()    backward_ends(begin_ns, threw)
//   zero_grad_begins()   zero_grad_ends(begin_ns, set_to_none)
//   optimizer_begins()   optimizer_ends(optimizer, name, parameters, begin_ns, threw)
//   range(category, name, begin_ns, end_ns, value)
//   around, around_closure, around_output, around_print
//   around_backward, backward_is_due, around_zero_grad, step_hooks
//   around_modules, modules_changed
//   around_next, around_next_index, pass_goes_on, pass_stops
void* loopscope_script_builtins();

}  // extern "C"
