// A profiler plugin for NCCL, for use where another tool holds CUPTI: NCCL loads this library when NCCL_PROFILER_PLUGIN
// names it (LOOPSCOPE_NCCL=1 asks the launcher for that) and reports when each collective's channels begin and end.
#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>

#include "probes/export.h"
#include "probes/nccl/collectives.h"

namespace loopscope::nccl {
namespace {

// Never freed: NCCL's threads call until the very end.
Collectives* collectives = nullptr;

// NCCL unloads a plugin with its last communicator and may load it again for the next: keep it loaded.
void Stay() noexcept {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&Stay), &here) != 0) dlopen(here.dli_fname, RTLD_NOW | RTLD_NODELETE);
}

// The program's name for it, else NCCL's number. Null if there are too many.
const Communicator* CommunicatorOf(const char* name, std::uint64_t number) noexcept {
  constexpr std::size_t kMost = 256;
  static Communicator all[kMost];
  static std::size_t count = 0;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  Communicator one;
  if (name != nullptr && *name != '\0') {
    std::snprintf(one.name, sizeof one.name, "%s", name);
    std::replace(std::begin(one.name), std::end(one.name), ':', '_');
  } else {
    std::snprintf(one.name, sizeof one.name, "0x%llx", static_cast<unsigned long long>(number));
  }
  pthread_mutex_lock(&lock);
  std::size_t at = 0;
  while (at < count && std::strcmp(all[at].name, one.name) != 0) ++at;
  if (at == count && count < kMost) all[count++] = one;
  pthread_mutex_unlock(&lock);
  return at < kMost ? &all[at] : nullptr;
}

void Init(void** context, int* mask, const char* communicator, std::uint64_t number) noexcept {
  *context = nullptr;
  *mask = 0;
  auto* offer = reinterpret_cast<decltype(&loopscope_probe_api)>(dlsym(RTLD_DEFAULT, "loopscope_probe_api"));
  const ProbeApi* api = offer != nullptr ? offer() : nullptr;
  if (api == nullptr || api->version != kProbeApiVersion || !api->tracing) return;
  if (collectives == nullptr) {
    Stay();
    collectives = new (std::nothrow) Collectives(*api);
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOn), "nccl", 0);
  }
  if (collectives == nullptr) return;
  *context = const_cast<Communicator*>(CommunicatorOf(communicator, number));
  *mask = kCollective | kKernelChannel;
}

template <class Description>
Result StartEvent(void* context, void** handle, Description* description) noexcept {
  *handle = nullptr;
  if (collectives == nullptr) return Result::kSuccess;
  if (description->type == kCollective) {
    *handle = collectives->StartCollective(description->collective, static_cast<const Communicator*>(context));
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
        [](void** context, int* mask, const char* communicator, std::uint64_t hash, int, int, int, Log) {
          Init(context, mask, communicator, hash);
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
        [](void** context, std::uint64_t id, int* mask, const char* communicator, int, int, int, Log) {
          Init(context, mask, communicator, id);
          return Result::kSuccess;
        },
    .start_event = StartEvent<EventDescription5>,
    .stop_event = StopEvent,
    .record_event_state = RecordEventState,
    .finalize = Finalize,
};
