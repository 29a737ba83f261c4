#include "probes/preload/python/method.h"

#include <array>

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
enum SlotNumber { kCall = 50, kBind = 54, kAttribute = 58, kMembers = 72 };
constexpr unsigned kHasVectorcall = 1u << 11;
constexpr unsigned kBindsLikeFunction = 1u
                                        << 17;  // Py_TPFLAGS_METHOD_DESCRIPTOR: called without a bound method between
constexpr int kSize = 19, kReadOnly = 1;        // T_PYSSIZET, READONLY

// What follows a method's object header.
struct Fields {
  Vectorcall* call;
  void* objects;  // tuple
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

// The original's attributes come before its own, such as __class__: it looks like what it replaces.
void* Attribute(void* method, void* name) noexcept {
  if (void* const of_original = python.attribute(python.tuple_item(FieldsOf(method).objects, 0), name)) {
    return of_original;
  }
  python.clear_error();
  return python.own_attribute(method, name);
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
  std::array<Member, 2> members{Member{
      "__vectorcalloffset__", kSize, static_cast<ssize_t>(header_bytes + offsetof(Fields, call)), kReadOnly, nullptr}};
  std::array<Slot, 5> slots{Slot{kCall, python.vectorcall},
                            {kBind, reinterpret_cast<void*>(Bind)},
                            {kAttribute, reinterpret_cast<void*>(Attribute)},
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
  FieldsOf(method) = {call, objects};
  return method;
}

}  // namespace loopscope
