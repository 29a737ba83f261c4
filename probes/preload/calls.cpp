#include "probes/preload/calls.h"

#include <dlfcn.h>

namespace loopscope {
namespace {

constexpr OpCalls kNone{};
constexpr CallTable kNothing{.real_op_calls = [] { return &kNone; },
                             .set_op_calls = [](const OpCalls&, const std::atomic<std::uint32_t>&) {},
                             .observe_memory = [](const MemoryObserver*) {},
                             .observe_waits = [](const WaitObserver*) {},
                             .observe_calls = [](const CallObserver*) {}};

}  // namespace

const CallTable& Calls() noexcept {
  static const CallTable& found = [] {
    auto* const table = reinterpret_cast<const CallTable* (*)()>(dlsym(RTLD_DEFAULT, "loopscope_calls_v1"));
    return table != nullptr ? *table() : kNothing;
  }();
  return found;
}

}  // namespace loopscope
