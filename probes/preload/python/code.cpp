#include "probes/preload/python/code.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <vector>

#include "probes/capture/records.h"

namespace loopscope {
namespace {

struct Known {
  std::unordered_map<void*, Code> codes;
  std::vector<std::string> foreign;
  std::string start_folder, temporary_folder;  // end with a slash; empty: not known
  std::int64_t started_ns = 0;                 // by the clock of file times
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

bool FindAll() noexcept {
  PythonFrames& python = python_frames;
  return Find(python.this_thread, "PyGILState_GetThisThreadState") && Find(python.lock, "PyGILState_Ensure") &&
         Find(python.unlock, "PyGILState_Release") && Find(python.is_initialized, "Py_IsInitialized") &&
         Find(python.frame, "PyEval_GetFrame") && Find(python.back, "PyFrame_GetBack") &&
         Find(python.code, "PyFrame_GetCode") && Find(python.line, "PyFrame_GetLineNumber") &&
         Find(python.attribute, "PyObject_GetAttrString") && Find(python.text, "PyUnicode_AsUTF8AndSize") &&
         Find(python.take, "Py_IncRef") && Find(python.give, "Py_DecRef") && Find(python.error, "PyErr_Occurred") &&
         Find(python.clear_error, "PyErr_Clear");
}

// Interactive code has no file either. Other code without one comes from a library: methods of named tuples and of
// proxies, graphs of torch.fx, frozen modules.
bool IsGenerated(const std::string& path) {
  constexpr std::array<std::string_view, 4> kTyped{"<stdin>", "<console>", "<ipython-input", "<string>"};
  return path.starts_with('<') &&
         std::ranges::none_of(kTyped, [&](std::string_view typed) { return path.starts_with(typed); });
}

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A library has generated it since the program began, under a name that changes with each start.
bool IsFreshTemporary(const std::string& path) {
  const std::string& folder = Cache().temporary_folder;
  if (folder.empty() || !path.starts_with(folder)) return false;
  struct stat file {};
  return stat(path.c_str(), &file) == 0 && Nanoseconds(file.st_mtim) >= Cache().started_ns;
}

// A program started as ../train.py has another spelling in its code's path than in its imports.
std::string Spelled(std::string path) {
  if (path.empty() || path.front() == '<') return path;
  if (path.front() != '/') path.insert(0, Cache().start_folder);
  const bool plain = path.front() == '/' && path.find("/../") == path.npos && path.find("/./") == path.npos &&
                     path.find("//") == path.npos;
  if (plain) return path;
  char* const real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return std::filesystem::path(path).lexically_normal().native();
  path = real;
  std::free(real);
  return path;
}

Owner OwnerOf(const std::string& path) {
  if (IsGenerated(path) || IsFreshTemporary(path)) return Owner::kForeign;
  for (const std::string& foreign : Cache().foreign) {
    if (path.starts_with(foreign)) return Owner::kForeign;
  }
  const bool package = path.find("/site-packages/") != path.npos || path.find("/dist-packages/") != path.npos;
  return package ? Owner::kPackage : Owner::kUser;
}

}  // namespace

PythonFrames python_frames{};

bool FindPythonFrames() noexcept {
  static const bool found = FindAll();
  return found;
}

std::string AttributeText(void* object, const char* attribute) {
  void* value = python_frames.attribute(object, attribute);
  ssize_t length = 0;
  const char* text = value != nullptr ? python_frames.text(value, &length) : nullptr;
  std::string copy = text != nullptr ? std::string(text, static_cast<std::size_t>(length)) : "?";
  if (value != nullptr) python_frames.give(value);
  if (text == nullptr) python_frames.clear_error();
  return copy;
}

Code& CodeOf(void* object) {
  const auto [found, is_new] = Cache().codes.try_emplace(object);
  if (is_new) {
    python_frames.take(object);
    Code& made = found->second;
    made.path = Spelled(AttributeText(object, "co_filename"));
    made.function = AttributeText(object, "co_name");
    made.owner = OwnerOf(made.path);
  }
  return found->second;
}

Code& CodeOfFrame(void* frame) {
  void* const object = python_frames.code(frame);
  Code& code = CodeOf(object);
  python_frames.give(object);
  return code;
}

std::uint64_t FrameText(Code& code, int line) {
  std::uint32_t& id = code.lines[line];
  if (id == 0) id = capture::StringId(code.path + ":" + std::to_string(line) + ":" + code.function);
  return wire::kFrameIsText | (code.owner == Owner::kPackage ? wire::kFrameIsLibrary : 0) | id;
}

void SetCodeFolders(std::string_view start, std::string_view temporary) noexcept {
  const auto folder = [](std::string_view path) {
    return path.empty() || path.ends_with('/') ? std::string(path) : std::string(path) + '/';
  };
  try {
    Known& known = Cache();
    known.start_folder = folder(start);
    known.temporary_folder = folder(temporary);
    timespec now{};
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    known.started_ns = Nanoseconds(now);
  } catch (...) {
    capture::WriteMark(wire::MarkKind::kProbeOff, "out of memory: call stacks show generated code");
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

}  // namespace loopscope
