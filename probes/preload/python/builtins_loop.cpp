#include <array>
#include <atomic>
#include <cstdint>

#include "probes/capture/writer.h"
#include "probes/preload/python/builtins.h"
#include "probes/preload/python/method.h"
#include "probes/preload/python/object.h"
#include "probes/preload/python/script.h"

namespace loopscope {
namespace {

std::atomic<bool> backward_is_due{true};

// A step of an optimizer that has begun and not ended on this thread. One that raised stays open, and must not keep its
// optimizer alive.
struct OpenStep {
  void* optimizer = nullptr;  // a weak reference, kept
  std::uint64_t begin_ns = 0;

  bool IsOf(void* one) const noexcept { return optimizer != nullptr && python.referent(optimizer) == one; }
};
constinit thread_local OpenStep open_step;

// Indices of step_hooks' arguments in the hooks' objects.
enum : ssize_t { kFace, kBegins, kEnds, kDescribe, kHooksItems };

void* Backward(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  void* const original = python.tuple_item(self, 0);
  if (backward_is_due.exchange(false, std::memory_order_relaxed)) {
    void* const begun = CallItem(self, 1, nullptr, 0);
    if (begun == nullptr) return nullptr;
    python.give(begun);
  }
  const std::uint64_t begin_ns = capture::NowNs();
  loopscope_script_backward_begins();
  void* const result = python.call(original, arguments, static_cast<std::size_t>(count), names);
  if (result != nullptr) {
    loopscope_script_backward_ends(begin_ns, 0);
  } else {
    const ErrorAside error;
    loopscope_script_backward_ends(begin_ns, 1);
  }
  return result;
}

// The shim's data about an optimizer.
struct Known {
  std::uint64_t number = 0, parameters = 0;
  const char* name = "";
};

// The optimizer that stepped last; under the interpreter's lock.
struct Stepped {
  void* optimizer = nullptr;  // a weak reference
  void* tuple = nullptr;      // keeps the name
  Known known;
};
std::array<Stepped, 4> stepped;
std::size_t next_stepped = 0;

// Calls the shim, which returns a tuple (number, name, parameters). Null if it does not know, or with an exception
// set.
const Known* Describe(void* self, void* optimizer) noexcept {
  void* const tuple = CallItem(self, kDescribe, &optimizer, 1);
  if (tuple == nullptr) return nullptr;
  void* const reference = python.new_reference(optimizer, nullptr);
  if (reference == nullptr) {
    python.clear_error();
    python.give(tuple);
    return nullptr;
  }
  const auto number = [&](ssize_t item) { return python.number(python.tuple_item(tuple, item)); };
  Stepped& one = stepped[next_stepped++ % stepped.size()];
  const Stepped old = one;
  one = {reference, tuple, {number(0), number(2), python.bytes(python.tuple_item(tuple, 1))}};
  for (void* const given : {old.optimizer, old.tuple}) {
    if (given != nullptr) python.give(given);
  }
  return &one.known;
}

const Known* Find(void* self, void* optimizer) noexcept {
  for (const Stepped& one : stepped) {
    if (one.optimizer == nullptr) break;
    if (python.referent(one.optimizer) == optimizer) return &one.known;
  }
  return Describe(self, optimizer);
}

// Returns false with an exception set where the shim's answer was interrupted.
bool EndStep(void* self, bool raised) noexcept {
  const OpenStep step = open_step;
  open_step = {};
  void* const optimizer = python.referent(step.optimizer);
  const Known* const known = optimizer != python.none ? Find(self, optimizer) : nullptr;
  const bool interrupted = python.error() != nullptr;
  const ErrorAside error;
  if (known != nullptr) {
    loopscope_script_optimizer_ends(known->number, known->name, known->parameters, step.begin_ns, raised ? 1 : 0);
  } else {
    loopscope_script_optimizer_ends(0, "", 0, step.begin_ns, 1);
  }
  python.give(step.optimizer);
  return !interrupted;
}

bool HasArguments(void* positional, void* named) noexcept {
  return python.tuple_size(positional) > 1 || python.dict_size(named) > 0;
}

// Its optimizer is gone, or begins another step: it raised, and its end was never reported.
bool HasRaised(void* optimizer) noexcept {
  return open_step.IsOf(optimizer) || open_step.IsOf(python.none);
}

void* StepBegins(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  if (count > 0 && HasRaised(arguments[0]) && !EndStep(self, true)) return nullptr;
  if (open_step.optimizer != nullptr || count != 3 || HasArguments(arguments[1], arguments[2])) {
    return CallItem(self, kBegins, arguments, count, names);
  }
  void* const reference = python.new_reference(arguments[0], nullptr);
  if (reference == nullptr) return nullptr;
  loopscope_script_optimizer_begins();
  open_step = {reference, capture::NowNs()};
  return NewNone();
}

void* StepEnds(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  if (count == 0 || !open_step.IsOf(arguments[0])) return CallItem(self, kEnds, arguments, count, names);
  return EndStep(self, false) ? NewNone() : nullptr;
}

enum ZeroGradItem : ssize_t { kZeroGrad, kDefault, kZeroGradItems };

// zero_grad(owner, set_to_none), by name or not.
void* ZeroGrad(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  const ssize_t given = count + (names != nullptr ? python.tuple_size(names) : 0);
  const std::uint64_t begin_ns = capture::NowNs();
  loopscope_script_zero_grad_begins();
  void* const result = CallItem(self, kZeroGrad, arguments, count, names);
  const ErrorAside error;
  const bool set_to_none = IsTrue(given > 1 ? arguments[1] : python.tuple_item(self, kDefault));
  if (python.error() != nullptr) python.clear_error();  // torch has asked it too, and raised the same
  loopscope_script_zero_grad_ends(begin_ns, set_to_none ? 1 : 0);
  return result;
}

}  // namespace

void* AroundBackward(void*, PythonArguments arguments, ssize_t count) noexcept {
  return count == 2 ? NewMethod<Backward>(arguments[0], arguments[1]) : WrongArguments();
}

void* BackwardIsDue(void*, PythonArguments, ssize_t) noexcept {
  backward_is_due.store(true, std::memory_order_relaxed);
  return NewNone();
}

void* AroundZeroGrad(void*, PythonArguments arguments, ssize_t count) noexcept {
  if (count != kZeroGradItems) return WrongArguments();
  return NewMethod<ZeroGrad>(arguments[kZeroGrad], arguments[kDefault]);
}

void* StepHooks(void*, PythonArguments a, ssize_t count) noexcept {
  if (count != kHooksItems) return WrongArguments();
  void* const begins = NewMethod<StepBegins>(a[kFace], a[kBegins], a[kEnds], a[kDescribe]);
  void* const ends = begins != nullptr ? NewMethod<StepEnds>(a[kFace], a[kBegins], a[kEnds], a[kDescribe]) : nullptr;
  void* const hooks = ends != nullptr ? python.new_tuple(2, begins, ends) : nullptr;
  for (void* const one : {begins, ends}) {
    if (one != nullptr) python.give(one);
  }
  return hooks;
}

}  // namespace loopscope
