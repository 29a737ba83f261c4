#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "probes/capture/writer.h"
#include "probes/preload/loop.h"
#include "probes/preload/python/builtins.h"
#include "probes/preload/python/method.h"
#include "probes/preload/python/object.h"

namespace loopscope {
namespace {

enum Item : ssize_t { kOriginal, kRun, kNames, kNote, kIsCompiling, kTreated, kItems };

enum class Place : std::uint8_t { kOutside, kInside, kNaming };  // of a thread: outside any module's call, inside one
constinit thread_local Place place = Place::kOutside;
constinit thread_local void* module_names = nullptr;  // while naming: of the modules inside, bytes by id

// A module whose training calls only need a range.
struct Settled {
  void* module = nullptr;  // not kept alive: modules_changed() is called when it goes
  void* name = nullptr;    // bytes
};
std::array<Settled, 8> settled;  // under the interpreter's lock

void Unsettle() noexcept {
  for (Settled& one : settled) {
    void* const name = one.name;
    one = {};
    if (name != nullptr) python.give(name);
  }
}

void Settle(void* module, void* name) noexcept {
  for (Settled& one : settled) {
    if (one.module != nullptr) continue;
    python.take(name);
    one = {module, name};
    return;
  }
}

bool IsInTraining(void* module) noexcept {
  static void* const name = python.new_name("training");
  void* const training = python.attribute(module, name);
  const bool is = training != nullptr && IsTrue(training);
  if (training != nullptr) python.give(training);
  python.clear_error();
  return is;
}

const Settled* FindSettled(void* module) noexcept {
  for (const Settled& one : settled) {
    if (one.module == module) return IsInTraining(module) ? &one : nullptr;
  }
  return nullptr;
}

// May leave an exception set: a signal's handler raised it.
void AskNote(void* self, void* module, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  void* const arguments[] = {module, python.new_number(begin_ns), python.new_number(end_ns)};
  void* const name = CallItem(self, kNote, arguments, 3);
  python.give(arguments[1]);
  python.give(arguments[2]);
  if (name == nullptr) return;
  if (name == python.none) {
    Unsettle();
  } else if (python.size(name) > 0 && FindSettled(module) == nullptr) {
    Settle(module, name);
  }
  python.give(name);
}

void Note(void* self, void* module, std::uint64_t begin_ns) noexcept {
  const std::uint64_t end_ns = capture::NowNs();
  if (const Settled* const known = FindSettled(module)) {
    loop::Range(wire::RangeCategory::kForward, python.bytes(known->name), begin_ns, end_ns, 0, false);
  } else {
    AskNote(self, module, begin_ns, end_ns);
  }
}

// False, with an exception set, where a signal's handler raised one.
bool IsCompiling(void* self) noexcept {
  void* const answer = CallItem(self, kIsCompiling, nullptr, 0);
  if (answer == nullptr) return false;
  const bool is = IsTrue(answer);
  python.give(answer);
  return is;
}

std::string_view ClassName(void* object) noexcept {
  static void* const attribute = python.new_name("__name__");
  void* const type = python.type(object);
  void* const name = python.attribute(type, attribute);
  const char* const text = name != nullptr ? python.text(name) : nullptr;
  python.clear_error();
  python.give(type);
  if (name != nullptr) python.give(name);  // the class keeps it
  return text != nullptr ? text : "";
}

std::string_view NameOf(void* module) noexcept {
  void* const id = python.new_number(reinterpret_cast<std::uintptr_t>(module));
  void* const name = python.dict_item(module_names, id);
  python.give(id);
  return name != nullptr ? python.bytes(name) : ClassName(module);
}

// Recorded here, not by a Python function, which torch.compile would treat as part of the model.
void* NamedCall(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  void* const module = arguments[0];
  const std::uint64_t begin_ns = capture::NowNs();
  void* const result = CallItem(self, kOriginal, arguments, count, names);
  const std::uint64_t end_ns = capture::NowNs();
  const ErrorAside error;
  if (module_names != nullptr) {
    loop::Range(wire::RangeCategory::kModule, NameOf(module), begin_ns, end_ns, 0, false);
  }
  return result;
}

// Makes an outermost call, inside the detail window or outside it.
void* Run(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  const bool treated = IsTrue(python.tuple_item(self, kTreated));
  if (place == Place::kNaming && !treated) return NamedCall(self, arguments, count, names);
  return CallItem(self, treated ? kRun : kOriginal, arguments, count, names);
}

// Returns false with an exception set where a signal's handler raised one.
bool EnterModule(void* self, void* module) noexcept {
  place = Place::kInside;
  if ((loop::Gate().load(std::memory_order_relaxed) & kGateDetail) == 0) return true;
  module_names = CallItem(self, kNames, &module, 1);
  if (module_names != nullptr) place = Place::kNaming;
  return module_names != nullptr;
}

void LeaveModule() noexcept {
  place = Place::kOutside;
  if (void* const names = std::exchange(module_names, nullptr)) python.give(names);
}

void* Outermost(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  void* const module = arguments[0];
  const bool entered = EnterModule(self, module);
  const std::uint64_t begin_ns = capture::NowNs();
  void* result = entered ? Run(self, arguments, count, names) : nullptr;
  LeaveModule();
  if (!entered) return nullptr;
  const bool raised = result == nullptr;
  const ErrorAside error;
  Note(self, module, begin_ns);
  if (!raised && python.error() != nullptr) python.give(std::exchange(result, nullptr));
  return result;
}

void* ModuleCall(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  if (place == Place::kInside || count == 0) return CallItem(self, kOriginal, arguments, count, names);
  if (place == Place::kNaming) return NamedCall(self, arguments, count, names);
  if (IsCompiling(self)) return CallItem(self, kOriginal, arguments, count, names);
  if (python.error() != nullptr) return nullptr;
  return Outermost(self, arguments, count, names);
}

}  // namespace

void* AroundModules(void*, PythonArguments arguments, ssize_t count) noexcept {
  if (count != kItems) return WrongArguments();
  return NewMethod<ModuleCall>(arguments[kOriginal], arguments[kRun], arguments[kNames], arguments[kNote],
                               arguments[kIsCompiling], arguments[kTreated]);
}

void* ModulesChanged(void*, PythonArguments, ssize_t) noexcept {
  Unsettle();
  return NewNone();
}

}  // namespace loopscope
