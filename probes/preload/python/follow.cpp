#include "probes/preload/python/follow.h"

#include <dlfcn.h>
#include <pthread.h>

#include "probes/preload/python/code.h"

namespace loopscope::follow {
namespace {

struct Python {
  void (*set_profile)(Hook, void*);  // PyEval_SetProfile
  void (*set_trace)(Hook, void*);    // PyEval_SetTrace
} python{};

int OnOwnEvent(void*, void* frame, int what, void* argument) noexcept {
  if (IsOn()) {
    OnCallEvent(frame, what, argument);
  } else {  // a forked child has inherited the hook
    python.set_profile(nullptr, nullptr);
  }
  return 0;
}

int OnTrace(void*, void* frame, int what, void*) noexcept {
  if (!IsOn()) {
    python.set_trace(nullptr, nullptr);
  } else if (what == kLine) {
    OnLineEvent(frame);
  }
  return 0;
}

// With a pending exception, Python cannot be called.
void DropTrace() noexcept {
  if (python_frames.error() != nullptr || !HasTraceHook()) python.set_trace(nullptr, nullptr);
}

bool FindAll() noexcept {
  python.set_profile = reinterpret_cast<void (*)(Hook, void*)>(dlsym(RTLD_DEFAULT, "PyEval_SetProfile"));
  python.set_trace = reinterpret_cast<void (*)(Hook, void*)>(dlsym(RTLD_DEFAULT, "PyEval_SetTrace"));
  return python.set_profile != nullptr && python.set_trace != nullptr && FindCallNames() && FindHookGetters();
}

}  // namespace

const char* WhyNot() noexcept {
  static const bool found = FindAll() && pthread_atfork(nullptr, nullptr, [] { Forget(); }) == 0;
  if (!found) return "this Python does not tell which lines run";
  return HookInUse();
}

void SetHook(Hook hook) noexcept {
  python.set_profile(hook, nullptr);
}

bool StartInHook() noexcept {
  if (IsOn() || !FindPythonFrames()) return false;
  void* const frame = python_frames.frame();
  if (frame == nullptr || !Begin(frame)) return false;
  python.set_trace(OnTrace, nullptr);
  return true;
}

std::uint64_t StopInHook() noexcept {
  if (!IsOnHere()) return 0;
  DropTrace();
  return End();
}

bool Start() noexcept {
  if (IsOn() || !FindPythonFrames()) return false;
  if (python_frames.is_initialized() == 0 || python_frames.this_thread() == nullptr) return false;
  const int state = python_frames.lock();
  if (python_frames.error() == nullptr) {
    const char* reason = WhyNot();
    if (reason != nullptr) SayLinesAreUnknown(reason);
    if (reason == nullptr && StartInHook()) SetHook(OnOwnEvent);
  }
  python_frames.unlock(state);
  return IsOn();
}

std::uint64_t Stop() noexcept {
  if (!IsOnHere()) return 0;
  // The program ends, and its interpreter is gone: so are the frames.
  if (python_frames.is_initialized() == 0 || python_frames.this_thread() == nullptr) return Forget();
  const int state = python_frames.lock();
  const bool pending = python_frames.error() != nullptr;
  if (pending || !HasProfileHook()) SetHook(nullptr);
  DropTrace();
  const std::uint64_t cost = End();
  python_frames.unlock(state);
  return cost;
}

}  // namespace loopscope::follow
