#include "probes/preload/api.h"

#include "probes/capture/file.h"
#include "probes/capture/records.h"
#include "probes/preload/call_stack.h"
#include "probes/preload/calls.h"
#include "probes/preload/claims.h"
#include "probes/preload/lifetimes.h"
#include "probes/preload/live.h"
#include "probes/preload/loop.h"
#include "probes/preload/process/devices.h"

namespace loopscope::loop {

const ProbeApi* Api() noexcept {
  static const ProbeApi api{
      .version = kProbeApiVersion,
      .gate = &Gate(),
      .tracing = RunMode() == Mode::kTrace,
      .checking = RunMode() == Mode::kCheck,
      .now_ns = capture::NowNs,
      .append = [](const void* records, std::size_t bytes) { return capture::Append(records, bytes); },
      .string_id =
          [](const char* text, std::size_t length) {
            return capture::StringId({text, length});
          },
      .call_stack = CallStackId,
      .mark = [](std::uint8_t kind, const char* name,
                 std::uint64_t value) { Mark(static_cast<wire::MarkKind>(kind), name, value); },
      .fact = [](const char* key, const char* value) { capture::WriteFact(key, value); },
      .applied = [](const char* key, const char* where, const char* old_value, const char* now,
                    std::uint32_t flags) { capture::WriteApplied(key, where, old_value, now, flags); },
      .user_range = UserRange,
      .claimed = [](const char* key) { return Claimed(key); },
      .in_backward = InBackward,
      .thread_state = [] { return &capture::CurrentThread(); },
      .file_generation = &capture::FileGeneration(),
      .set_torch_hooks = SetTorchHooks,
      .set_device_hooks = SetDeviceHooks,
      .live_state = [](const char* key) { return live::State(key); },
      .live_acted = [](const char* key) { live::Acted(key); },
      .real_op_calls = Calls().real_op_calls,
      .set_op_calls = Calls().set_op_calls,
      .tensor_used = lifetimes::Used,
  };
  return Active() ? &api : nullptr;
}

}  // namespace loopscope::loop
