#include "probes/torch/open_ops.h"

#include <pthread.h>

#include <cstring>
#include <new>
#include <string_view>

#include "probes/torch/op_names.h"

namespace loopscope {
namespace {

std::atomic<bool> shapes_seen{false};

}  // namespace

constinit thread_local OpenOps* mine __attribute__((tls_model("initial-exec"))) = nullptr;

OpenOps* MakeOpenOps() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    pthread_key_create(&made, [](void* ops) {
      mine = nullptr;
      delete static_cast<OpenOps*>(ops);
    });
    return made;
  }();
  auto* made = new (std::nothrow) OpenOps;
  if (made == nullptr) return nullptr;
  pthread_setspecific(key, made);
  mine = made;
  return made;
}

Known Find(const void* address, std::string_view text, bool permanent) {
  const Known found{address, api->string_id(text.data(), text.size()), TraitsOf(text), permanent};
  if (found.traits & kHashShapes) shapes_seen.store(true, std::memory_order_relaxed);
  return found;
}

const Known& NewSchema(OpenOps& open, const c10::FunctionSchema& schema) {
  const Known found = Find(&schema, schema.name(), true);
  const std::size_t place = PlaceOf(open, schema);
  Known& kept = found.id == 0 ? open.unkept : open.schemas[open.schemas[place].id == 0 ? place : place ^ 1];
  kept = found;
  return kept;
}

const Known& NameOf(OpenOps& open, const at::RecordFunction& function) {
  const char* name = function.name();
  KnownText& slot = open.texts[(reinterpret_cast<std::uintptr_t>(name) >> 4) % open.texts.size()];
  if (slot.address == name && (slot.permanent || std::strcmp(slot.text, name) == 0)) return slot;
  const std::string_view text(name);
  const Known found = Find(name, text, function.operator_name().has_value());
  if (found.id == 0 || text.size() >= sizeof slot.text) return open.unkept = found;
  static_cast<Known&>(slot) = found;
  std::memcpy(slot.text, text.data(), text.size() + 1);
  return slot;
}

bool ShapesSeen() noexcept {
  return shapes_seen.load(std::memory_order_relaxed);
}

}  // namespace loopscope
