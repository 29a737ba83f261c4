#include "profiler/importers/capture/versions.h"

#include <algorithm>

namespace loopscope {

void FillInOlder(const wire::FileHeader& header, Trace& trace) {
  // Before version 1.6, marks do not name the probe that is off: with no operator recorded, it is LibTorch's.
  constexpr std::uint16_t kProbesAreNamed = 6;
  const auto is_op = [](const Event& event) { return event.kind == EventKind::kOp; };
  const auto has_ops = [&](const Thread& one) { return std::ranges::any_of(one.events, is_op); };
  if (header.minor >= kProbesAreNamed || std::ranges::any_of(trace.threads, has_ops)) return;
  for (Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kProbeOff) mark.value = static_cast<std::uint64_t>(wire::ProbeId::kTorch);
  }
}

}  // namespace loopscope
