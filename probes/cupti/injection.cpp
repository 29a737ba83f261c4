// What the GPU did, from CUPTI: the CUDA driver loads this library when it starts, if CUDA_INJECTION64_PATH names it.
// Without the preloaded library, or in a run that is not traced, it does nothing.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>

#include "probes/cupti/collector.h"
#include "probes/export.h"

namespace loopscope {
namespace {

// The API of the preloaded library; null without it.
template <class Function>
Function* Offered(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

const char* Start(const ProbeApi* api, Cupti& cupti) noexcept {
  auto* taken = Offered<decltype(loopscope_cupti_is_taken)>("loopscope_cupti_is_taken");
  if (taken != nullptr && taken()) return "the program's own profiler uses CUPTI";
  if (const char* reason = LoadCupti(cupti)) return reason;
  return StartCollector(cupti, api);
}

void Attach(const ProbeApi* api) noexcept {
  static Cupti cupti;
  const char* const reason = Start(api, cupti);
  char text[512];
  if (reason != nullptr) {
    std::snprintf(text, sizeof text, "GPU probe off: %s", reason);
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), text,
              static_cast<std::uint64_t>(wire::ProbeId::kDevices));
    std::fprintf(stderr, "loopscope: %s; what the GPU does is not recorded\n", text);
    return;
  }
  static const DeviceHooks hooks{.finish = FinishCollector, .leave_cupti_to = LeaveCuptiTo};
  api->set_device_hooks(&hooks);
  std::snprintf(text, sizeof text, "cupti %u", static_cast<unsigned>(cupti.version));
  api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOn), text, 0);
}

}  // namespace
}  // namespace loopscope

// Does nothing while no capture is open, and once it has begun to record.
extern "C" LOOPSCOPE_EXPORT void loopscope_cupti_attach() {
  using namespace loopscope;
  static std::atomic<bool> attached{false};
  auto* offer = Offered<decltype(loopscope_probe_api)>("loopscope_probe_api");
  const ProbeApi* api = offer != nullptr ? offer() : nullptr;
  if (api == nullptr || api->version != kProbeApiVersion || !api->tracing || attached.exchange(true)) return;
  Attach(api);
}

// Called by the driver. Its result says whether the tool started; the program goes on either way.
extern "C" LOOPSCOPE_EXPORT int InitializeInjection() {
  loopscope_cupti_attach();
  return 1;
}
