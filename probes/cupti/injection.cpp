// What the GPU did, from CUPTI: the CUDA driver loads this library when it starts, if CUDA_INJECTION64_PATH names it.
// Without the preloaded library, or in a run that is not traced, it does nothing.
#include <dlfcn.h>

#include <cstdio>

#include "probes/cupti/collector.h"
#include "probes/export.h"

namespace loopscope {
namespace {

const char* Start(const ProbeApi* api) noexcept {
  static Cupti cupti;
  if (const char* reason = LoadCupti(cupti)) return reason;
  return StartCollector(cupti, api);
}

void Attach(const ProbeApi* api) noexcept {
  const char* const reason = Start(api);
  char text[512];
  if (reason != nullptr) {
    std::snprintf(text, sizeof text, "GPU probe off: %s", reason);
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), text,
              static_cast<std::uint64_t>(wire::ProbeId::kDevices));
    std::fprintf(stderr, "loopscope: %s; what the GPU does is not recorded\n", text);
    return;
  }
  static const DeviceHooks hooks{.finish = FinishCollector};
  api->set_device_hooks(&hooks);
  std::snprintf(text, sizeof text, "cupti %d", CUPTI_API_VERSION);
  api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOn), text, 0);
}

}  // namespace
}  // namespace loopscope

// Called by the driver. Its result says whether the tool started; the program goes on either way.
extern "C" LOOPSCOPE_EXPORT int InitializeInjection() {
  using namespace loopscope;
  auto* offer = reinterpret_cast<decltype(&loopscope_probe_api)>(dlsym(RTLD_DEFAULT, "loopscope_probe_api"));
  const ProbeApi* api = offer != nullptr ? offer() : nullptr;
  if (api != nullptr && api->version == kProbeApiVersion && api->tracing) Attach(api);
  return 1;
}
