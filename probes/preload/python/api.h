// The part of CPython's C API that the builtins use, looked up in the process: this library is built without Python's
// headers, and also loaded into programs without Python. Objects stay opaque.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace loopscope {

struct PythonApi {
  void* (*new_dict)();                                     // PyDict_New
  int (*set_item)(void*, const char*, void*);              // PyDict_SetItemString
  void* (*dict_item)(void*, void*);                        // PyDict_GetItem, borrowed
  ssize_t (*dict_size)(void*);                             // PyDict_Size
  ssize_t (*tuple_size)(void*);                            // PyTuple_Size
  void* (*tuple_item)(void*, ssize_t);                     // PyTuple_GetItem, borrowed
  void* (*new_tuple)(ssize_t, ...);                        // PyTuple_Pack
  void* (*new_function)(void*, void*, void*);              // PyCFunction_NewEx
  void* (*new_type)(void*);                                // PyType_FromSpec
  void* (*new_bound)(void*, void*);                        // PyMethod_New
  void* vectorcall;                                        // PyVectorcall_Call
  void* (*call)(void*, void* const*, std::size_t, void*);  // PyObject_Vectorcall
  void* (*new_name)(const char*);                          // PyUnicode_InternFromString
  void* (*attribute)(void*, void*);                        // PyObject_GetAttr
  void* (*own_attribute)(void*, void*);                    // PyObject_GenericGetAttr
  int (*set_attribute)(void*, void*, void*);               // PyObject_SetAttr; null deletes it
  void* (*new_reference)(void*, void*);                    // PyWeakref_NewRef
  void* (*referent)(void*);                                // PyWeakref_GetObject, borrowed
  unsigned long long (*number)(void*);                     // PyLong_AsUnsignedLongLongMask
  void* (*new_number)(unsigned long long);                 // PyLong_FromUnsignedLongLong
  int (*is_true)(void*);                                   // PyObject_IsTrue, -1 on error
  ssize_t (*size)(void*);                                  // PyObject_Size
  int (*is_instance)(void*, void*);                        // PyObject_IsInstance
  void* (*type)(void*);                                    // PyObject_Type
  const char* (*text)(void*);                              // PyUnicode_AsUTF8, kept by the string
  const char* (*bytes)(void*);                             // PyBytes_AsString
  void* (*error)();                                        // PyErr_Occurred, borrowed
  int (*error_is)(void*);                                  // PyErr_ExceptionMatches
  void (*set_error)(void*, const char*);                   // PyErr_SetString
  void (*clear_error)();                                   // PyErr_Clear
  void (*fetch_error)(void**, void**, void**);             // PyErr_Fetch
  void (*restore_error)(void*, void*, void*);              // PyErr_Restore
  void (*take)(void*);                                     // Py_IncRef
  void (*give)(void*);                                     // Py_DecRef
  void* none;                                              // Py_None
  void *list_type, *tuple_type, *object_type;              // PyList_Type, PyTuple_Type, PyBaseObject_Type
  void **type_error, **stop_iteration;                     // PyExc_TypeError, PyExc_StopIteration
};

// Filled by FindPython.
extern PythonApi python;

// Whether this process has a Python with all of it.
bool FindPython() noexcept;

using PythonArguments = void* const*;

// PyMethodDef.
struct PythonMethod {
  const char* name;
  void* function;
  int flags;
  const char* documentation;
};
constexpr int kPythonFastCall = 0x0080;  // METH_FASTCALL: (self, arguments, count)
constexpr int kPythonKeywords = 0x0002;  // METH_KEYWORDS, with the former: (self, arguments, count, names)
constexpr int kPythonOneArgument = 0x0008, kPythonNoArguments = 0x0004;  // METH_O, METH_NOARGS: (self, argument)

// A new reference to None.
inline void* NewNone() noexcept {
  python.take(python.none);
  return python.none;
}

}  // namespace loopscope
