// A profiler plugin for NCCL, for use where another tool holds CUPTI: NCCL loads this library when NCCL_PROFILER_PLUGIN
// names it (LOOPSCOPE_NCCL=1 asks the launcher for that) and reports when each collective's channels begin and end.
#include <dlfcn.h>

#include <new>

#include "probes/export.h"
#include "probes/nccl/collectives.h"

namespace loopscope::nccl {
namespace {

// Never freed: NCCL's threads call until the very end.
Collectives* collectives = nullptr;

// NCCL unloads a plugin with its last communicator and may load it again for the next: it has to stay loaded.
void Stay() noexcept {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&Stay), &here) != 0) dlopen(here.dli_fname, RTLD_NOW | RTLD_NODELETE);
}

void Init(int* mask) noexcept {
  *mask = 0;
  auto* offer = reinterpret_cast<decltype(&loopscope_probe_api)>(dlsym(RTLD_DEFAULT, "loopscope_probe_api"));
  const ProbeApi* api = offer != nullptr ? offer() : nullptr;
  if (api == nullptr || api->version != kProbeApiVersion || !api->tracing) return;
  if (collectives == nullptr) {
    Stay();
    collectives = new (std::nothrow) Collectives(*api);
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOn), "nccl", 0);
  }
  if (collectives != nullptr) *mask = kCollective | kKernelChannel;
}

template <class Description>
Result StartEvent(void*, void** handle, Description* description) noexcept {
  *handle = nullptr;
  if (collectives == nullptr) return Result::kSuccess;
  if (description->type == kCollective) {
    *handle = collectives->StartCollective(description->collective);
  } else if (description->type == kKernelChannel) {
    *handle = collectives->StartChannel(description->parent, description->kernel_channel.timer_ns);
  }
  return Result::kSuccess;
}

// Ends are reported as the state of a channel, with the device's time.
Result StopEvent(void*) noexcept {
  return Result::kSuccess;
}

Result RecordEventState(void* handle, EventState state, EventStateArguments* arguments) noexcept {
  if (collectives == nullptr || arguments == nullptr || state != EventState::kKernelChannelStop)
    return Result::kSuccess;
  if (collectives->IsChannel(handle)) collectives->EndChannel(handle, arguments->timer_ns);
  return Result::kSuccess;
}

Result Finalize(void*) noexcept {
  return Result::kSuccess;
}

}  // namespace
}  // namespace loopscope::nccl

using namespace loopscope::nccl;

extern "C" LOOPSCOPE_EXPORT const Profiler4 ncclProfiler_v4{
    .name = "loopscope",
    .init =
        [](void** context, int* mask, const char*, std::uint64_t, int, int, int, Log) {
          *context = nullptr;
          Init(mask);
          return Result::kSuccess;
        },
    .start_event = StartEvent<EventDescription4>,
    .stop_event = StopEvent,
    .record_event_state = RecordEventState,
    .finalize = Finalize,
};

extern "C" LOOPSCOPE_EXPORT const Profiler5 ncclProfiler_v5{
    .name = "loopscope",
    .init =
        [](void** context, std::uint64_t, int* mask, const char*, int, int, int, Log) {
          *context = nullptr;
          Init(mask);
          return Result::kSuccess;
        },
    .start_event = StartEvent<EventDescription5>,
    .stop_event = StopEvent,
    .record_event_state = RecordEventState,
    .finalize = Finalize,
};
