// What loop.h offers to the other injected libraries, and what the program says about itself.
#include <pthread.h>

#include <array>
#include <cstring>

#include "probes/capture/records.h"
#include "probes/preload/call_stack.h"
#include "probes/preload/calls.h"
#include "probes/preload/ending.h"
#include "probes/preload/lifetimes.h"
#include "probes/preload/live.h"
#include "probes/preload/loop.h"

namespace loopscope::loop {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct Guard {
  Guard() noexcept { pthread_mutex_lock(&lock); }
  ~Guard() { pthread_mutex_unlock(&lock); }
};

struct Claims {
  std::array<char[48], 64> keys{};
  std::size_t count = 0;
} claims;

}  // namespace

void Evaluation(bool begins) noexcept {
  static constinit thread_local std::uint64_t begin_ns = 0;
  if (!Active()) return;
  if (!begins && begin_ns != 0)
    Range(wire::RangeCategory::kEvaluation, "evaluation", begin_ns, capture::NowNs(), 0, true);
  begin_ns = begins ? capture::NowNs() : 0;
}

void Claim(std::string_view key) noexcept {
  if (!Active() || Claimed(key)) return;
  const Guard guard;
  if (claims.count == claims.keys.size() || key.size() >= sizeof claims.keys[0]) return;
  std::memcpy(claims.keys[claims.count++], key.data(), key.size());
}

bool Claimed(std::string_view key) noexcept {
  const Guard guard;
  for (std::size_t n = 0; n < claims.count; ++n) {
    if (key == claims.keys[n]) return true;
  }
  return false;
}

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
      .thread_clock = [] { return &capture::CurrentThreadClock(); },
      .thread_window = [] { return &capture::ThreadWindow(); },
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
