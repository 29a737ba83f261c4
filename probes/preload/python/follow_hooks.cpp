#include <dlfcn.h>

#include <cstdio>

#include "probes/capture/records.h"
#include "probes/preload/python/code.h"
#include "probes/preload/python/follow.h"

namespace loopscope {
namespace {

struct Python {
  void* (*system)(const char*);                 // PySys_GetObject, borrowed
  void* (*call)(void*, void*);                  // PyObject_CallObject, new
  void* (*call_with)(void*, const char*, ...);  // PyObject_CallFunction, new
  void* none;                                   // Py_None
} python{};

template <class Function>
bool Find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

// sys.getprofile() or sys.gettrace() is set.
bool HasHook(const char* getter) noexcept {
  void* const function = python.system(getter);
  void* const hook = function != nullptr ? python.call(function, nullptr) : nullptr;
  if (hook == nullptr) {
    python_frames.clear_error();
    return false;
  }
  python_frames.give(hook);
  return hook != python.none;
}

// From Python 3.12 on tools register with sys.monitoring.
bool HasMonitor() noexcept {
  constexpr int kTools = 6;
  void* const monitoring = python.system("monitoring");
  if (monitoring == nullptr) return false;
  void* const get_tool = python_frames.attribute(monitoring, "get_tool");
  bool has = false;
  for (int tool = 0; get_tool != nullptr && tool < kTools && !has; ++tool) {
    void* const name = python.call_with(get_tool, "i", tool);
    has = name != nullptr && name != python.none;
    if (name != nullptr) python_frames.give(name);
  }
  if (get_tool != nullptr) python_frames.give(get_tool);
  if (python_frames.error() != nullptr) python_frames.clear_error();
  return has;
}

// If the program's audit hook forbids hooks, each attempt would be reported on stderr.
bool IsForbidden() noexcept {
  static const bool forbidden = [] {
    int (*audit)(const char*, const char*, ...) = nullptr;  // PySys_Audit
    if (!Find(audit, "PySys_Audit")) return false;
    for (const char* const event : {"sys.setprofile", "sys.settrace"}) {
      if (audit(event, nullptr) == 0) continue;
      python_frames.clear_error();
      return true;
    }
    return false;
  }();
  return forbidden;
}

}  // namespace

bool HasProfileHook() noexcept {
  return HasHook("getprofile");
}

bool HasTraceHook() noexcept {
  return HasHook("gettrace");
}

const char* HookInUse() noexcept {
  if (HasProfileHook()) return "the program follows its calls itself (sys.setprofile, cProfile)";
  if (HasTraceHook()) return "a debugger or a measurement of coverage follows the program (sys.settrace)";
  if (HasMonitor()) return "a profiler, a debugger or a measurement of coverage follows the program (sys.monitoring)";
  if (IsForbidden()) return "an audit hook of the program forbids to follow its calls";
  return nullptr;
}

void SayLinesAreUnknown(const char* reason) noexcept {
  static bool said = false;
  if (said) return;
  said = true;
  char text[160];
  std::snprintf(text, sizeof text, "lines of code between operators are not known: %s", reason);
  capture::WriteMark(wire::MarkKind::kProbeOff, text);
}

bool FindHookGetters() noexcept {
  python.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
  return python.none != nullptr && Find(python.system, "PySys_GetObject") && Find(python.call, "PyObject_CallObject") &&
         Find(python.call_with, "PyObject_CallFunction");
}

}  // namespace loopscope
