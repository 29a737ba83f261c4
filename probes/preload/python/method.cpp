#include "probes/preload/python/method.h"

#include <array>
#include <string_view>

#include "probes/preload/python/object.h"

namespace loopscope {
namespace {

// PyType_Slot, PyType_Spec, PyMemberDef and the numbers that CPython's stable ABI gives them.
struct Slot {
  int slot;
  void* function;
};
struct Spec {
  const char* name;
  int size, item_size;
  unsigned flags;
  Slot* slots;
};
struct Member {
  const char* name;
  int type;
  ssize_t offset;
  int flags;
  const char* documentation;
};
enum SlotNumber { kCall = 50, kBind = 54, kAttribute = 58, kMethods = 64, kSetAttribute = 69, kMembers = 72 };
constexpr unsigned kHasVectorcall = 1u << 11;
constexpr unsigned kBindsLikeFunction = 1u
                                        << 17;  // Py_TPFLAGS_METHOD_DESCRIPTOR: called without a bound method between
constexpr int kSize = 19, kReadOnly = 1;        // T_PYSSIZET, READONLY

// The data after a method's object header.
struct Fields {
  Vectorcall* call;
  void* objects;          // tuple
  void* weak_references;  // the interpreter's list
};

std::size_t header_bytes = 0;

Fields& FieldsOf(void* method) noexcept {
  return *reinterpret_cast<Fields*>(static_cast<unsigned char*>(method) + header_bytes);
}

void* Bind(void* method, void* object, void*) noexcept {
  if (object != nullptr && object != python.none) return python.new_bound(method, object);
  python.take(method);
  return method;
}

void* OriginalOf(void* method) noexcept {
  return python.tuple_item(FieldsOf(method).objects, 0);
}

bool IsForPickle(void* name) noexcept {
  const char* const text = python.text(name);
  python.clear_error();
  return text != nullptr && std::string_view(text).starts_with("__reduce");
}

// The original's attributes take precedence over its own, such as __class__: it looks like what it replaces.
void* Attribute(void* method, void* name) noexcept {
  if (IsForPickle(name)) return python.own_attribute(method, name);
  if (void* const of_original = python.attribute(OriginalOf(method), name)) return of_original;
  python.clear_error();
  return python.own_attribute(method, name);
}

int SetAttribute(void* method, void* name, void* value) noexcept {
  return python.set_attribute(OriginalOf(method), name, value);
}

// __reduce__, __reduce_ex__: pickled and copied by its name, as functions are.
void* Reduce(void* method, void*) noexcept {
  static void* const name = python.new_name("__qualname__");
  return python.attribute(OriginalOf(method), name);
}

// sizeof(PyObject), which builds of Python differ in; 0 with an exception set.
std::size_t HeaderBytes() noexcept {
  void* const name = python.new_name("__basicsize__");
  void* const size = name != nullptr ? python.attribute(python.object_type, name) : nullptr;
  const std::size_t bytes = size != nullptr ? python.number(size) : 0;
  for (void* const one : {name, size}) {
    if (one != nullptr) python.give(one);
  }
  return bytes;
}

void* MakeType() noexcept {
  header_bytes = HeaderBytes();
  if (header_bytes == 0) return nullptr;
  static PythonMethod methods[] = {
      {"__reduce__", reinterpret_cast<void*>(Reduce), kPythonNoArguments, nullptr},
      {"__reduce_ex__", reinterpret_cast<void*>(Reduce), kPythonOneArgument, nullptr},
      {},
  };
  const auto at = [](std::size_t offset) { return static_cast<ssize_t>(header_bytes + offset); };
  std::array<Member, 3> members{
      Member{"__vectorcalloffset__", kSize, at(offsetof(Fields, call)), kReadOnly, nullptr},
      {"__weaklistoffset__", kSize, at(offsetof(Fields, weak_references)), kReadOnly, nullptr},
  };
  std::array<Slot, 7> slots{Slot{kCall, python.vectorcall},
                            {kBind, reinterpret_cast<void*>(Bind)},
                            {kAttribute, reinterpret_cast<void*>(Attribute)},
                            {kSetAttribute, reinterpret_cast<void*>(SetAttribute)},
                            {kMethods, methods},
                            {kMembers, members.data()}};
  Spec spec{"loopscope.method", static_cast<int>(header_bytes + sizeof(Fields)), 0, kHasVectorcall | kBindsLikeFunction,
            slots.data()};
  return python.new_type(&spec);
}

}  // namespace

void* ObjectsOf(void* method) noexcept {
  return FieldsOf(method).objects;
}

void* MakeMethod(Vectorcall* call, void* objects) noexcept {
  static void* const type = MakeType();
  void* const method = type != nullptr ? python.call(type, nullptr, 0, nullptr) : nullptr;
  if (method == nullptr) return nullptr;
  python.take(objects);
  FieldsOf(method) = {call, objects, nullptr};
  return method;
}

}  // namespace loopscope
