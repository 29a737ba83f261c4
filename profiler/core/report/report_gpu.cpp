#include <algorithm>

#include "profiler/core/report/report.h"
#include "profiler/core/timeline/hta.h"

namespace loopscope {
namespace {

double Us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

void FillShares(GpuFacts& gpu) {
  if (gpu.span_us <= 0) return;
  gpu.idle_pct = 100 * gpu.idle_us / gpu.span_us;
  gpu.busy_pct = 100 - *gpu.idle_pct;
}

// The sum over all devices, and which one was busiest.
DeviceTimes TimesOf(const Timeline& timeline, const DeviceTimeline*& busiest) {
  DeviceTimes all;
  std::int64_t most = -1;
  for (const DeviceTimeline& device : timeline.devices()) {
    const DeviceTimes times = device.times();
    all += times;
    if (times.busy <= most) continue;
    most = times.busy;
    busiest = &device;
  }
  return all;
}

}  // namespace

std::optional<GpuFacts> GpuFactsOf(const Timeline& timeline) {
  if (timeline.devices().empty()) return std::nullopt;
  const DeviceTimeline* busiest = nullptr;
  const DeviceTimes times = TimesOf(timeline, busiest);
  GpuFacts gpu;
  gpu.devices = static_cast<int>(timeline.devices().size());
  gpu.steps = static_cast<int>(timeline.steady().size());
  gpu.span_us = Us(times.span);
  gpu.idle_us = Us(times.idle);
  gpu.compute_us = Us(times.compute);
  gpu.communication_us = Us(times.communication);
  gpu.memory_us = Us(times.memory);
  gpu.other_us = Us(times.busy - times.compute);
  gpu.incomplete = timeline.device_coverage().why_not;
  if (!gpu.incomplete.empty()) return gpu;
  FillShares(gpu);
  if (times.communication > 0) gpu.comm_overlap_pct = 100 * Us(times.overlap) / gpu.communication_us;
  if (busiest->launch_delay_us() >= 0) gpu.launch_delay_us = busiest->launch_delay_us();
  if (busiest->queue_depth() >= 0) gpu.queue_depth = busiest->queue_depth();
  const DeviceCoverage& coverage = timeline.device_coverage();
  const bool causes_known = coverage.why_not.empty() && coverage.why_no_causes.empty();
  for (int cause = 0; causes_known && cause < kIdleCauses; ++cause) {
    gpu.idle_causes_us[cause] = Us(times.causes[static_cast<std::size_t>(cause)]);
  }
  return gpu;
}

std::optional<GpuFacts> GpuFactsByHta(const Timeline& timeline) {
  const std::optional<HtaTimes> times = HtaTimesOf(timeline);
  if (!times) return std::nullopt;
  GpuFacts gpu;
  gpu.definitions = "hta";
  gpu.devices = static_cast<int>(timeline.devices().size());
  gpu.span_us = times->total_us;
  gpu.idle_us = times->idle_us;
  gpu.compute_us = times->compute_us;
  gpu.communication_us = times->communication_us;
  gpu.memory_us = times->memory_us;
  gpu.other_us = times->non_compute_us;
  gpu.comm_overlap_pct = times->comm_overlap_pct;
  FillShares(gpu);
  return gpu;
}

}  // namespace loopscope
