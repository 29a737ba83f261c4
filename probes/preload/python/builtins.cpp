#include "probes/preload/python/builtins.h"

#include <cstdint>

#include "probes/export.h"
#include "probes/preload/python/api.h"
#include "probes/preload/python/script.h"

namespace {

using loopscope::python;
using loopscope::PythonMethod;
using Arguments = loopscope::PythonArguments;

std::uint64_t Number(void* object) noexcept {
  return python.number(object);
}
int Flag(void* object) noexcept {
  return static_cast<int>(python.number(object));
}
const char* Bytes(void* object) noexcept {
  return python.bytes(object);
}

// A builtin of `count` arguments. Null, with an exception set, where one is of a wrong type.
template <ssize_t count, void (*body)(Arguments)>
void* Builtin(void*, Arguments arguments, ssize_t given) noexcept {
  if (given != count) {
    python.set_error(*python.type_error, "wrong number of arguments");
    return nullptr;
  }
  body(arguments);
  if (count > 0 && python.error() != nullptr) return nullptr;
  return loopscope::NewNone();
}

void LoaderGave(Arguments a) {
  if (const char* name = Bytes(a[2]))
    loopscope_script_loader_gave(Number(a[0]), Number(a[1]), name, nullptr, Number(a[3]));
}
void BackwardBegins(Arguments) {
  loopscope_script_backward_begins();
}
void BackwardEnds(Arguments a) {
  loopscope_script_backward_ends(Number(a[0]), Flag(a[1]));
}
void ZeroGradBegins(Arguments) {
  loopscope_script_zero_grad_begins();
}
void ZeroGradEnds(Arguments a) {
  loopscope_script_zero_grad_ends(Number(a[0]), Flag(a[1]));
}
void OptimizerBegins(Arguments) {
  loopscope_script_optimizer_begins();
}
void OptimizerEnds(Arguments a) {
  if (const char* name = Bytes(a[1]))
    loopscope_script_optimizer_ends(Number(a[0]), name, Number(a[2]), Number(a[3]), Flag(a[4]));
}
void Range(Arguments a) {
  if (const char* name = Bytes(a[1]))
    loopscope_script_range(Flag(a[0]), name, Number(a[2]), Number(a[3]), Number(a[4]));
}

using Function = void*(void*, Arguments, ssize_t) noexcept;

PythonMethod Method(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function), loopscope::kPythonFastCall, nullptr};
}

PythonMethod methods[] = {
    Method("loader_gave", Builtin<4, LoaderGave>),
    Method("backward_begins", Builtin<0, BackwardBegins>),
    Method("backward_ends", Builtin<2, BackwardEnds>),
    Method("zero_grad_begins", Builtin<0, ZeroGradBegins>),
    Method("zero_grad_ends", Builtin<2, ZeroGradEnds>),
    Method("optimizer_begins", Builtin<0, OptimizerBegins>),
    Method("optimizer_ends", Builtin<5, OptimizerEnds>),
    Method("range", Builtin<5, Range>),
    Method("around_backward", loopscope::AroundBackward),
    Method("backward_is_due", loopscope::BackwardIsDue),
    Method("step_hooks", loopscope::StepHooks),
    Method("around_zero_grad", loopscope::AroundZeroGrad),
    Method("around_modules", loopscope::AroundModules),
    Method("modules_changed", loopscope::ModulesChanged),
    Method("around_next", loopscope::AroundNext),
    Method("around_next_index", loopscope::AroundNextIndex),
    Method("pass_goes_on", loopscope::PassGoesOn),
    Method("pass_stops", loopscope::PassStops),
    Method("around_closure", loopscope::AroundClosure),
    Method("around", loopscope::Around),
    Method("around_output", loopscope::AroundOutput),
    Method("around_print", loopscope::AroundPrint),
    Method("set_look", loopscope::SetLook),
};

bool Add(void* dict, PythonMethod& method) noexcept {
  void* function = python.new_function(&method, nullptr, nullptr);
  if (function == nullptr) return false;
  const bool added = python.set_item(dict, method.name, function) == 0;
  python.give(function);
  return added;
}

}  // namespace

extern "C" LOOPSCOPE_EXPORT void* loopscope_script_builtins() {
  void* dict = loopscope::FindPython() ? python.new_dict() : nullptr;
  if (dict == nullptr) return nullptr;
  for (PythonMethod& method : methods) {
    if (Add(dict, method)) continue;
    python.give(dict);
    return nullptr;
  }
  return dict;
}
