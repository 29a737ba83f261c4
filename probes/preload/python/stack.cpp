#include "probes/preload/python/stack.h"

#include <dlfcn.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/capture/records.h"
#include "probes/preload/call_stack.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxFrames = 64;
constexpr int kMaxDepth = 400;  // frames looked at

// The functions of CPython's C API (3.9 and later) that a stack walk needs. Objects stay opaque.
struct Python {
  void* (*this_thread)();                  // PyGILState_GetThisThreadState
  int (*lock)();                           // PyGILState_Ensure
  void (*unlock)(int);                     // PyGILState_Release
  int (*is_initialized)();                 // Py_IsInitialized
  void* (*frame)();                        // PyEval_GetFrame, borrowed
  void* (*back)(void*);                    // PyFrame_GetBack, new
  void* (*code)(void*);                    // PyFrame_GetCode, new
  int (*line)(void*);                      // PyFrame_GetLineNumber
  void* (*attribute)(void*, const char*);  // PyObject_GetAttrString, new
  const char* (*text)(void*, ssize_t*);    // PyUnicode_AsUTF8AndSize
  void (*take)(void*);                     // Py_IncRef
  void (*give)(void*);                     // Py_DecRef
  void* (*error)();                        // PyErr_Occurred, borrowed
  void (*clear_error)();                   // PyErr_Clear
} python{};

enum class Owner { kUser, kPackage, kForeign };

struct Code {
  std::string path, function;
  Owner owner = Owner::kForeign;
  std::unordered_map<int, std::uint32_t> lines;  // line -> string id
};

// Held under Python's lock. A code object that is known here stays alive, so that its address means one thing.
struct Known {
  std::unordered_map<void*, Code> codes;
  std::vector<std::string> foreign;
};

Known& Cache() {
  static auto* known = new Known;
  return *known;
}

template <class Function>
bool Find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

bool FindPython() noexcept {
  return Find(python.this_thread, "PyGILState_GetThisThreadState") && Find(python.lock, "PyGILState_Ensure") &&
         Find(python.unlock, "PyGILState_Release") && Find(python.is_initialized, "Py_IsInitialized") &&
         Find(python.frame, "PyEval_GetFrame") && Find(python.back, "PyFrame_GetBack") &&
         Find(python.code, "PyFrame_GetCode") && Find(python.line, "PyFrame_GetLineNumber") &&
         Find(python.attribute, "PyObject_GetAttrString") && Find(python.text, "PyUnicode_AsUTF8AndSize") &&
         Find(python.take, "Py_IncRef") && Find(python.give, "Py_DecRef") && Find(python.error, "PyErr_Occurred") &&
         Find(python.clear_error, "PyErr_Clear");
}

std::string TextOf(void* object, const char* attribute) {
  void* value = python.attribute(object, attribute);
  ssize_t length = 0;
  const char* text = value != nullptr ? python.text(value, &length) : nullptr;
  std::string copy = text != nullptr ? std::string(text, static_cast<std::size_t>(length)) : "?";
  if (value != nullptr) python.give(value);
  if (text == nullptr) python.clear_error();
  return copy;
}

Owner OwnerOf(const std::string& path) {
  if (path.starts_with("<frozen")) return Owner::kForeign;
  for (const std::string& folder : Cache().foreign) {
    if (path.starts_with(folder)) return Owner::kForeign;
  }
  const bool package = path.find("/site-packages/") != path.npos || path.find("/dist-packages/") != path.npos;
  return package ? Owner::kPackage : Owner::kUser;
}

Code& CodeOf(void* object) {
  const auto [found, is_new] = Cache().codes.try_emplace(object);
  if (is_new) {
    python.take(object);
    Code& made = found->second;
    made.path = TextOf(object, "co_filename");
    made.function = TextOf(object, "co_name");
    made.owner = OwnerOf(made.path);
  }
  return found->second;
}

std::uint64_t FrameText(Code& code, int line) {
  std::uint32_t& id = code.lines[line];
  if (id == 0) id = capture::StringId(code.path + ":" + std::to_string(line) + ":" + code.function);
  return wire::kFrameIsText | id;
}

struct Frames {
  std::array<std::uint64_t, kMaxFrames> of_user, of_packages;
  std::size_t users = 0, packages = 0;

  void Add(void* frame, Code& code) {
    if (code.owner == Owner::kForeign) return;
    const bool user = code.owner == Owner::kUser;
    std::size_t& count = user ? users : packages;
    if (count == kMaxFrames || (!user && users > 0)) return;
    (user ? of_user : of_packages)[count++] = FrameText(code, python.line(frame));
  }
};

std::uint32_t Walk() {
  Frames frames;
  void* frame = python.frame();
  if (frame != nullptr) python.take(frame);
  for (int depth = 0; frame != nullptr && depth < kMaxDepth; ++depth) {
    if (void* code = python.code(frame)) {
      frames.Add(frame, CodeOf(code));
      python.give(code);
    }
    void* outer = python.back(frame);
    python.give(frame);
    frame = outer;
  }
  if (frame != nullptr) python.give(frame);
  return frames.users > 0 ? capture::StackId(frames.of_user.data(), frames.users)
                          : capture::StackId(frames.of_packages.data(), frames.packages);
}

}  // namespace

void UsePythonStacks() noexcept {
  if (FindPython()) {
    TakeStacksWith(PythonStackId);
  } else {
    capture::WriteMark(wire::MarkKind::kProbeOff, "call stacks of this Python cannot be read");
    TakeStacksWith([]() noexcept -> std::uint32_t { return 0; });
  }
}

void SetForeignCode(std::string_view folders) noexcept {
  try {
    std::vector<std::string>& foreign = Cache().foreign;
    foreign.clear();
    while (!folders.empty()) {
      const std::string_view one = folders.substr(0, folders.find('\n'));
      folders.remove_prefix(one.size() < folders.size() ? one.size() + 1 : folders.size());
      if (!one.empty()) foreign.emplace_back(one);
    }
  } catch (...) {
    capture::WriteMark(wire::MarkKind::kProbeOff, "out of memory: call stacks show library code");
  }
}

std::uint32_t PythonStackId() noexcept {
  if (python.is_initialized() == 0 || python.this_thread() == nullptr) return 0;
  const int state = python.lock();
  std::uint32_t id = 0;
  // Looking at attributes would disturb a pending exception.
  if (python.error() == nullptr) {
    try {
      id = Walk();
    } catch (...) {
      id = 0;
    }
  }
  python.unlock(state);
  return id;
}

}  // namespace loopscope
