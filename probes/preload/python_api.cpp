#include "probes/preload/python_api.h"

#include <dlfcn.h>

namespace loopscope {
namespace {

template <class Pointer>
bool Find(Pointer*& pointer, const char* name) noexcept {
  pointer = reinterpret_cast<Pointer*>(dlsym(RTLD_DEFAULT, name));
  return pointer != nullptr;
}

bool FindAll() noexcept {
  void* none = nullptr;
  const bool found =
      Find(python.new_dict, "PyDict_New") && Find(python.set_item, "PyDict_SetItemString") &&
      Find(python.dict_size, "PyDict_Size") && Find(python.tuple_size, "PyTuple_Size") &&
      Find(python.tuple_item, "PyTuple_GetItem") && Find(python.new_tuple, "PyTuple_Pack") &&
      Find(python.new_function, "PyCFunction_NewEx") && Find(python.call, "PyObject_Vectorcall") &&
      Find(python.new_name, "PyUnicode_InternFromString") && Find(python.attribute, "PyObject_GetAttr") &&
      Find(python.number, "PyLong_AsUnsignedLongLongMask") && Find(python.bytes, "PyBytes_AsString") &&
      Find(python.error, "PyErr_Occurred") && Find(python.set_error, "PyErr_SetString") &&
      Find(python.clear_error, "PyErr_Clear") && Find(python.fetch_error, "PyErr_Fetch") &&
      Find(python.restore_error, "PyErr_Restore") && Find(python.take, "Py_IncRef") && Find(python.give, "Py_DecRef") &&
      Find(none, "_Py_NoneStruct") && Find(python.type_error, "PyExc_TypeError");
  python.none = none;
  return found;
}

}  // namespace

PythonApi python{};

bool FindPython() noexcept {
  static const bool found = FindAll();
  return found;
}

}  // namespace loopscope
