#include "probes/preload/python/api.h"

#include <dlfcn.h>

namespace loopscope {
namespace {

template <class Pointer>
bool Find(Pointer& pointer, const char* name) noexcept {
  pointer = reinterpret_cast<Pointer>(dlsym(RTLD_DEFAULT, name));
  return pointer != nullptr;
}

// For CallWithDict.
void* (*call_with_dict)(void*, PythonArguments, std::size_t, void*) = nullptr;  // PyObject_VectorcallDict
int (*set_dict_item)(void*, void*, void*) = nullptr;                            // PyDict_SetItem

// In place of PyObject_Vectorcall, which CPython 3.10 does not export.
void* CallWithDict(void* callable, PythonArguments arguments, std::size_t count, void* names) noexcept {
  if (names == nullptr) return call_with_dict(callable, arguments, count, nullptr);
  void* const named = python.new_dict();
  bool set = named != nullptr;
  for (ssize_t at = 0; set && at < python.tuple_size(names); ++at) {
    set = set_dict_item(named, python.tuple_item(names, at), arguments[count + static_cast<std::size_t>(at)]) == 0;
  }
  void* const result = set ? call_with_dict(callable, arguments, count, named) : nullptr;
  if (named != nullptr) python.give(named);
  return result;
}

bool FindCall() noexcept {
  if (Find(python.call, "PyObject_Vectorcall")) return true;
  python.call = CallWithDict;
  return Find(call_with_dict, "PyObject_VectorcallDict") && Find(set_dict_item, "PyDict_SetItem");
}

bool FindAll() noexcept {
  const bool found =
      Find(python.new_dict, "PyDict_New") && Find(python.set_item, "PyDict_SetItemString") &&
      Find(python.dict_item, "PyDict_GetItem") && Find(python.dict_size, "PyDict_Size") &&
      Find(python.type, "PyObject_Type") && Find(python.text, "PyUnicode_AsUTF8") &&
      Find(python.tuple_size, "PyTuple_Size") && Find(python.tuple_item, "PyTuple_GetItem") &&
      Find(python.new_tuple, "PyTuple_Pack") && Find(python.new_function, "PyCFunction_NewEx") &&
      Find(python.new_type, "PyType_FromSpec") && Find(python.new_bound, "PyMethod_New") &&
      Find(python.new_reference, "PyWeakref_NewRef") && Find(python.referent, "PyWeakref_GetObject") &&
      Find(python.vectorcall, "PyVectorcall_Call") && Find(python.own_attribute, "PyObject_GenericGetAttr") &&
      Find(python.set_attribute, "PyObject_SetAttr") && Find(python.object_type, "PyBaseObject_Type") && FindCall() &&
      Find(python.new_name, "PyUnicode_InternFromString") && Find(python.attribute, "PyObject_GetAttr") &&
      Find(python.number, "PyLong_AsUnsignedLongLongMask") && Find(python.new_number, "PyLong_FromUnsignedLongLong") &&
      Find(python.is_true, "PyObject_IsTrue") && Find(python.size, "PyObject_Size") &&
      Find(python.is_instance, "PyObject_IsInstance") && Find(python.list_type, "PyList_Type") &&
      Find(python.tuple_type, "PyTuple_Type") && Find(python.bytes, "PyBytes_AsString") &&
      Find(python.error, "PyErr_Occurred") && Find(python.error_is, "PyErr_ExceptionMatches") &&
      Find(python.stop_iteration, "PyExc_StopIteration") && Find(python.set_error, "PyErr_SetString") &&
      Find(python.clear_error, "PyErr_Clear") && Find(python.fetch_error, "PyErr_Fetch") &&
      Find(python.restore_error, "PyErr_Restore") && Find(python.take, "Py_IncRef") && Find(python.give, "Py_DecRef") &&
      Find(python.none, "_Py_NoneStruct") && Find(python.type_error, "PyExc_TypeError");
  return found;
}

}  // namespace

PythonApi python{};

bool FindPython() noexcept {
  static const bool found = FindAll();
  return found;
}

}  // namespace loopscope
