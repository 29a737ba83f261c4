#include <array>

#include "probes/cupti/collector.h"

namespace loopscope {
namespace {

// Ids are dense and end with the first unknown one after these many.
constexpr CUpti_CallbackId kMaxCallbackId = 2048;

constexpr auto kNeeded = std::to_array<CUpti_ActivityKind>({CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT,
                                                            CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                            CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET});
// Enabled where supported.
constexpr auto kFurther = std::to_array<CUpti_ActivityKind>(
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_GRAPH_TRACE});
constexpr auto kInterfaces =
    std::to_array<CUpti_ActivityKind>({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER});

using EnableCall = CUptiResult (*)(CUpti_CallbackId id, std::uint8_t on);

// False if none could be switched.
bool SwitchCalls(const Cupti& cupti, CUpti_CallbackDomain domain, EnableCall enable, std::uint8_t on) noexcept {
  if (enable == nullptr) return false;
  bool any = false;
  for (CUpti_CallbackId id = 1; id < kMaxCallbackId; ++id) {
    const char* name = nullptr;
    if (cupti.callback_name(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (IsRecordedCall(name) && enable(id, on) == CUPTI_SUCCESS) any = true;
  }
  return any;
}

bool SwitchCalls(const Cupti& cupti, std::uint8_t on) noexcept {
  const bool runtime = SwitchCalls(cupti, CUPTI_CB_DOMAIN_RUNTIME_API, cupti.enable_runtime, on);
  const bool driver = SwitchCalls(cupti, CUPTI_CB_DOMAIN_DRIVER_API, cupti.enable_driver, on);
  return runtime && driver;
}

}  // namespace

CUptiResult EnableKinds(const Cupti& cupti, Calls wanted) noexcept {
  for (const CUpti_ActivityKind kind : kNeeded) {
    const CUptiResult result = cupti.enable(kind);
    if (result == CUPTI_SUCCESS) continue;
    DisableKinds(cupti);
    return result;
  }
  for (const CUpti_ActivityKind kind : kFurther) cupti.enable(kind);
  if (cupti.enable_all_sync != nullptr) cupti.enable_all_sync(0);
  // Never both: a kind as a whole, enabled later, overrides the choice of calls.
  if (wanted == Calls::kRecorded && SwitchCalls(cupti, 1)) return CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kInterfaces) cupti.enable(kind);
  return CUPTI_SUCCESS;
}

void DisableKinds(const Cupti& cupti) noexcept {
  SwitchCalls(cupti, 0);
  if (cupti.disable == nullptr) return;
  for (const CUpti_ActivityKind kind : kInterfaces) cupti.disable(kind);
  for (const CUpti_ActivityKind kind : kFurther) cupti.disable(kind);
  for (const CUpti_ActivityKind kind : kNeeded) cupti.disable(kind);
}

}  // namespace loopscope
