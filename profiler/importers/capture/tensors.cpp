#include "profiler/importers/capture/tensors.h"

#include <algorithm>
#include <functional>

#include "profiler/importers/capture/threads.h"

namespace loopscope {
namespace {

std::uint32_t ThreadOf(const Trace& trace, std::uint32_t pid, std::uint32_t tid) {
  const auto found =
      std::ranges::find_if(trace.threads, [&](const Thread& one) { return one.pid == pid && one.tid == tid; });
  return found == trace.threads.end() ? kNone : static_cast<std::uint32_t>(found - trace.threads.begin());
}

}  // namespace

std::uint64_t AddTensors(const CaptureDefinitions& all, Trace& trace) {
  std::uint64_t impossible = 0;
  for (const wire::TensorPeakRecord& peak : all.tensor_peaks) {
    if (peak.time_ns > kMaxTimeNs) {
      ++impossible;
      continue;
    }
    trace.tensor_peaks.push_back({static_cast<std::int64_t>(peak.time_ns), peak.bytes});
  }
  for (const auto& [pid, tensor] : all.tensors) {
    if (std::max({tensor.allocated_ns, tensor.used_ns, tensor.freed_ns}) > kMaxTimeNs) {
      ++impossible;
      continue;
    }
    trace.idle_tensors.push_back({tensor.bytes, static_cast<std::int64_t>(tensor.allocated_ns),
                                  static_cast<std::int64_t>(tensor.used_ns), static_cast<std::int64_t>(tensor.freed_ns),
                                  ThreadOf(trace, pid, tensor.tid)});
  }
  std::ranges::stable_sort(trace.tensor_peaks, {}, &TensorPeak::time_ns);
  std::ranges::stable_sort(trace.idle_tensors, std::ranges::greater(), &IdleTensor::bytes);
  return impossible;
}

}  // namespace loopscope
