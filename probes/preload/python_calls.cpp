#include "probes/preload/python_calls.h"

#include <dlfcn.h>
#include <sys/types.h>

#include <cstdint>

#include "probes/preload/script.h"

namespace {

// The functions of CPython's C API that the builtins take. Objects stay opaque.
struct Python {
  void* (*new_dict)();                         // PyDict_New
  int (*set_item)(void*, const char*, void*);  // PyDict_SetItemString
  void* (*new_function)(void*, void*, void*);  // PyCFunction_NewEx
  unsigned long long (*number)(void*);         // PyLong_AsUnsignedLongLongMask
  const char* (*bytes)(void*);                 // PyBytes_AsString
  void* (*error)();                            // PyErr_Occurred, borrowed
  void (*set_error)(void*, const char*);       // PyErr_SetString
  void (*take)(void*);                         // Py_IncRef
  void (*give)(void*);                         // Py_DecRef
  void* none;                                  // Py_None
  void** type_error;                           // PyExc_TypeError
} python{};

template <class Pointer>
bool Find(Pointer*& pointer, const char* name) noexcept {
  pointer = reinterpret_cast<Pointer*>(dlsym(RTLD_DEFAULT, name));
  return pointer != nullptr;
}

bool FindPython() noexcept {
  void* none = nullptr;
  const bool found = Find(python.new_dict, "PyDict_New") && Find(python.set_item, "PyDict_SetItemString") &&
                     Find(python.new_function, "PyCFunction_NewEx") &&
                     Find(python.number, "PyLong_AsUnsignedLongLongMask") && Find(python.bytes, "PyBytes_AsString") &&
                     Find(python.error, "PyErr_Occurred") && Find(python.set_error, "PyErr_SetString") &&
                     Find(python.take, "Py_IncRef") && Find(python.give, "Py_DecRef") && Find(none, "_Py_NoneStruct") &&
                     Find(python.type_error, "PyExc_TypeError");
  python.none = none;
  return found;
}

std::uint64_t Number(void* object) noexcept {
  return python.number(object);
}
int Flag(void* object) noexcept {
  return static_cast<int>(python.number(object));
}
const char* Bytes(void* object) noexcept {
  return python.bytes(object);
}

using Arguments = void* const*;

// A builtin of `count` arguments. Null, with an exception set, where one is of a wrong type.
template <ssize_t count, void (*body)(Arguments)>
void* Builtin(void*, Arguments arguments, ssize_t given) noexcept {
  if (given != count) {
    python.set_error(*python.type_error, "wrong number of arguments");
    return nullptr;
  }
  body(arguments);
  if (count > 0 && python.error() != nullptr) return nullptr;
  python.take(python.none);
  return python.none;
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

// PyMethodDef.
struct Method {
  const char* name;
  void* (*function)(void*, Arguments, ssize_t) noexcept;
  int flags;
  const char* documentation;
};
constexpr int kFastCall = 0x0080;  // METH_FASTCALL

Method methods[] = {
    {"loader_gave", Builtin<4, LoaderGave>, kFastCall, nullptr},
    {"backward_begins", Builtin<0, BackwardBegins>, kFastCall, nullptr},
    {"backward_ends", Builtin<2, BackwardEnds>, kFastCall, nullptr},
    {"zero_grad_begins", Builtin<0, ZeroGradBegins>, kFastCall, nullptr},
    {"zero_grad_ends", Builtin<2, ZeroGradEnds>, kFastCall, nullptr},
    {"optimizer_begins", Builtin<0, OptimizerBegins>, kFastCall, nullptr},
    {"optimizer_ends", Builtin<5, OptimizerEnds>, kFastCall, nullptr},
    {"range", Builtin<5, Range>, kFastCall, nullptr},
};

bool Add(void* dict, Method& method) noexcept {
  void* function = python.new_function(&method, nullptr, nullptr);
  if (function == nullptr) return false;
  const bool added = python.set_item(dict, method.name, function) == 0;
  python.give(function);
  return added;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* loopscope_script_builtins() {
  void* dict = FindPython() ? python.new_dict() : nullptr;
  if (dict == nullptr) return nullptr;
  for (Method& method : methods) {
    if (Add(dict, method)) continue;
    python.give(dict);
    return nullptr;
  }
  return dict;
}
