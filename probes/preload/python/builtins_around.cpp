#include <pthread.h>

#include <cstdint>

#include "probes/capture/writer.h"
#include "probes/preload/python/builtins.h"
#include "probes/preload/python/method.h"
#include "probes/preload/python/object.h"
#include "probes/preload/python/script.h"

namespace loopscope {
namespace {

enum Item : ssize_t { kOriginal, kBefore, kAfter, kItems };
enum OutputItem : ssize_t { kOutputOriginal, kOutputName, kOutputItems };
enum PrintItem : ssize_t { kPrintOriginal, kDocumentation, kModule, kPrintItems };

pthread_t training_thread;
void* print = nullptr;  // the program's own

bool IsNone(void* object) noexcept {
  return object == python.none;
}

// `before` is left out: None. Null, with an exception set, where it raised.
void* Before(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  return IsNone(python.tuple_item(self, kBefore)) ? NewNone() : CallItem(self, kBefore, arguments, count, names);
}

// Returns false with an exception set where `after` raised.
bool After(void* self, void* token, void* owner, void* result) noexcept {
  if (IsNone(python.tuple_item(self, kAfter))) return true;
  void* const raised = python.new_number(result == nullptr ? 1 : 0);
  void* const arguments[] = {token, owner, result != nullptr ? result : python.none, raised};
  void* const answer = CallItem(self, kAfter, arguments, 4);
  python.give(raised);
  if (answer != nullptr) python.give(answer);
  return answer != nullptr;
}

void* Call(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  void* const token = Before(self, arguments, count, names);
  if (token == nullptr) return nullptr;
  void* result = CallItem(self, kOriginal, arguments, count, names);
  void* const owner = count > 0 ? arguments[0] : python.none;
  if (result == nullptr) {
    const ErrorAside error;
    After(self, token, owner, nullptr);
  } else if (!After(self, token, owner, result)) {
    python.give(result);
    result = nullptr;
  }
  python.give(token);
  return result;
}

template <class Function>
void* Timed(const char* name, const Function& call) noexcept {
  if (pthread_equal(pthread_self(), training_thread) == 0) return call();
  const std::uint64_t begin_ns = capture::NowNs();
  void* const result = call();
  if (result != nullptr) {
    loopscope_script_output(name, begin_ns);
  } else {
    const ErrorAside error;
    loopscope_script_output(name, begin_ns);
  }
  return result;
}

void* Output(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  return Timed(python.bytes(python.tuple_item(self, kOutputName)),
               [&] { return CallItem(self, kOutputOriginal, arguments, count, names); });
}

void* Print(void*, PythonArguments arguments, ssize_t count, void* names) noexcept {
  return Timed("print", [&] { return python.call(print, arguments, static_cast<std::size_t>(count), names); });
}

}  // namespace

void* Around(void*, PythonArguments arguments, ssize_t count) noexcept {
  if (count != kItems) return WrongArguments();
  return NewMethod<Call>(arguments[kOriginal], arguments[kBefore], arguments[kAfter]);
}

void* AroundClosure(void*, PythonArguments arguments, ssize_t count) noexcept {
  static PythonMethod method{"closure", reinterpret_cast<void*>(Call), kPythonFastCall | kPythonKeywords, nullptr};
  if (count != kItems) return WrongArguments();
  void* const self = python.new_tuple(kItems, arguments[kOriginal], arguments[kBefore], arguments[kAfter]);
  if (self == nullptr) return nullptr;
  void* const made = python.new_function(&method, self, nullptr);
  python.give(self);
  return made;
}

void* AroundOutput(void*, PythonArguments arguments, ssize_t count) noexcept {
  if (count != kOutputItems) return WrongArguments();
  training_thread = pthread_self();
  return NewMethod<Output>(arguments[kOutputOriginal], arguments[kOutputName]);
}

void* AroundPrint(void*, PythonArguments arguments, ssize_t count) noexcept {
  static PythonMethod method{"print", nullptr, kPythonFastCall | kPythonKeywords, nullptr};
  if (count != kPrintItems || print != nullptr) return WrongArguments();
  training_thread = pthread_self();
  method.function = reinterpret_cast<void*>(Print);
  method.documentation = python.bytes(arguments[kDocumentation]);
  if (method.documentation == nullptr) return nullptr;
  for (ssize_t at = kPrintOriginal; at < kModule; ++at) python.take(arguments[at]);  // for as long as the process lives
  print = arguments[kPrintOriginal];
  static void* const name = python.new_name("builtins");
  return python.new_function(&method, arguments[kModule], name);
}

}  // namespace loopscope
