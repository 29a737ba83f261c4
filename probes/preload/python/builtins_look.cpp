#include <utility>

#include "probes/find_function.h"
#include "probes/preload/follow/following.h"
#include "probes/preload/python/builtins.h"
#include "probes/preload/python/object.h"

namespace loopscope {
namespace {

int (*enter)() = nullptr;                            // PyGILState_Ensure
void (*leave)(int) = nullptr;                        // PyGILState_Release
int (*call_later)(int (*)(void*), void*) = nullptr;  // Py_AddPendingCall: on the main thread

void* look = nullptr;  // kept

struct Raised {
  void *type = nullptr, *value = nullptr, *trace = nullptr;
};
Raised raised;  // under the interpreter's lock

int RaiseKept(void*) noexcept {
  const Raised one = std::exchange(raised, {});
  if (one.type == nullptr) return 0;
  python.restore_error(one.type, one.value, one.trace);
  return -1;
}

void Look() noexcept {
  const int state = enter();
  {
    const ErrorAside error;
    void* const answer = python.call(look, nullptr, 0, nullptr);
    if (answer != nullptr) {
      python.give(answer);
    } else {
      Raised one;
      python.fetch_error(&one.type, &one.value, &one.trace);
      raised = one;
      call_later(RaiseKept, nullptr);
    }
  }
  leave(state);
}

bool FindFunctions() noexcept {
  return Find(RTLD_DEFAULT, "PyGILState_Ensure", enter) && Find(RTLD_DEFAULT, "PyGILState_Release", leave) &&
         Find(RTLD_DEFAULT, "Py_AddPendingCall", call_later);
}

}  // namespace

void* SetLook(void*, PythonArguments arguments, ssize_t count) noexcept {
  if (count != 1) return WrongArguments();
  if (look == nullptr && FindFunctions()) {
    python.take(arguments[0]);
    look = arguments[0];
    following::CallBefore(Look);
  }
  return NewNone();
}

}  // namespace loopscope
