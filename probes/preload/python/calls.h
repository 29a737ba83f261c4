// The calls that a Python shim makes in every step, as builtin functions: a call through ctypes costs several times as
// much and evicts more of the program's data from the caches.
#pragma once

extern "C" {

// A new dict (PyObject*) of builtins, named as in probes/preload/python/script.h without loopscope_script_; null where
// the process's Python lacks what they need. Texts are bytes objects. The caller holds the interpreter's lock.
//   loader_gave(loader, begin_ns, name, samples)       without indices
//   backward_begins()    backward_ends(begin_ns, threw)
//   zero_grad_begins()   zero_grad_ends(begin_ns, set_to_none)
//   optimizer_begins()   optimizer_ends(optimizer, name, parameters, begin_ns, threw)
//   range(category, name, begin_ns, end_ns, value)
//   around, around_closure, around_output, around_print: around.h
//   around_backward, backward_is_due, around_zero_grad, step_hooks: loop.h
//   around_modules, modules_changed: modules.h
//   around_next, around_next_index, pass_goes_on, pass_stops: loader.h
void* loopscope_script_builtins();

}  // extern "C"
