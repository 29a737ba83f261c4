// What is known of Python code: whose it is, and the text of its frames in the capture. Everything here is called under
// the interpreter's lock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace loopscope {

// The functions of CPython's C API (3.9 and later) that reading frames needs. Objects stay opaque.
struct PythonFrames {
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
};

// Filled by FindPythonFrames, which returns whether this process's Python has all of it.
extern PythonFrames python_frames;
bool FindPythonFrames() noexcept;

enum class Owner : std::uint8_t { kUser, kPackage, kForeign };  // foreign: torch, the standard library, the shim

// What calls the members of a list one after the other, so that these are what takes the time.
enum class Container : std::uint8_t { kNone, kTransforms, kModules };

struct Code {
  std::string path, function;  // co_filename, co_name
  Owner owner = Owner::kForeign;
  std::unordered_map<int, std::uint32_t> lines;  // line -> string id
  std::uint32_t call_name = 0;                   // string id, see call_names.h
  bool call_named = false;
  // Known once it is named:
  Container container = Container::kNone;
  bool module_call = false;  // torch's own code between a module's call and its forward
};

// A code object that is known here stays alive, so that its address means one thing. Throws std::bad_alloc.
Code& CodeOf(void* code);
// Of a frame's code.
Code& CodeOfFrame(void* frame);

// The frame's text in a stack (wire.h), with kFrameIsLibrary for an installed package's.
std::uint64_t FrameText(Code& code, int line);

// The text of an attribute; "?" where there is none.
std::string AttributeText(void* object, const char* attribute);

// What the paths of code that is not the user's begin with, one a line.
void SetForeignCode(std::string_view folders) noexcept;

}  // namespace loopscope
