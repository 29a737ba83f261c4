#include "probes/torch/open_ops.h"

#include <pthread.h>

#include <cstring>
#include <new>
#include <string_view>

#include "probes/torch/traits.h"

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

const KnownName& NewName(OpenOps& open, const void* address, std::string_view text, bool permanent, KnownName& slot) {
  KnownName found{address, api->string_id(text.data(), text.size()), TraitsOf(text), permanent, ""};
  if (found.traits & kHashShapes) shapes_seen.store(true, std::memory_order_relaxed);
  const bool fits = found.id != 0 && text.size() < sizeof found.text;
  if (fits) std::memcpy(found.text, text.data(), text.size());
  KnownName& kept = fits ? slot : open.unkept;
  kept = found;
  return kept;
}

bool ShapesSeen() noexcept {
  return shapes_seen.load(std::memory_order_relaxed);
}

}  // namespace loopscope
