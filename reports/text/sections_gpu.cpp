// What the devices did, and why they stood still.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/text/sections.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

double PerStep(const GpuFacts& gpu, double us) {
  return us / 1e3 / std::max(gpu.steps, 1);
}

std::string WindowText(const GpuFacts& gpu) {
  const std::string devices = gpu.devices == 1 ? "the GPU" : fmt::format("{} GPUs", gpu.devices);
  if (gpu.definitions == "hta") return devices + ", by the definitions of Holistic Trace Analysis";
  return gpu.steps > 0 ? devices + " in the steady steps" : devices + " over the whole trace";
}

std::string WorkText(const GpuFacts& gpu) {
  const char* const per = gpu.steps > 0 ? " per step" : "";
  std::string text = fmt::format("compute {}{}", HumanMs(PerStep(gpu, gpu.compute_us)), per);
  if (gpu.communication_us > 0) {
    text += fmt::format(", communication {}", HumanMs(PerStep(gpu, gpu.communication_us)));
    if (gpu.comm_overlap_pct) text += fmt::format(" ({} of it under compute)", HumanPct(*gpu.comm_overlap_pct));
  }
  if (gpu.memory_us > 0) text += fmt::format(", copies and memsets {}", HumanMs(PerStep(gpu, gpu.memory_us)));
  return text;
}

std::string QueueText(const GpuFacts& gpu) {
  if (!gpu.launch_delay_us || !gpu.queue_depth) return "";
  return fmt::format("work begins {} after its launch (median), with {:.3g} pieces queued before it on average",
                     HumanMs(*gpu.launch_delay_us / 1e3), *gpu.queue_depth);
}

std::string CauseText(IdleCause cause) {
  switch (cause) {
    case IdleCause::kLoader:
      return "waits for the loader";
    case IdleCause::kHostSync:
      return "after a host's wait";
    case IdleCause::kCopy:
      return "copies to the GPU";
    case IdleCause::kLaunch:
      return "waits for launches";
    case IdleCause::kCommunication:
      return "waits for other ranks";
    case IdleCause::kOther:
      return "other";
  }
  return "";
}

void WriteCauses(const GpuFacts& gpu, Page& page) {
  for (int cause = 0; cause < kIdleCauses; ++cause) {
    const auto& us = gpu.idle_causes_us[static_cast<std::size_t>(cause)];
    if (!us || !std::isfinite(*us) || *us <= 0) continue;
    page.Line({{fmt::format("    idle: {:<22} {:>9}  {:>6}", CauseText(static_cast<IdleCause>(cause)),
                            HumanMs(PerStep(gpu, *us)), HumanPct(100 * *us / gpu.span_us))}});
  }
}

}  // namespace

void WriteGpu(const Report& report, Page& page) {
  if (!report.gpu || !(report.gpu->span_us > 0)) return;
  const GpuFacts& gpu = *report.gpu;
  page.Heading("The GPU");
  page.Entry(2, {""},
             {fmt::format("{}: busy {}, idle {}", WindowText(gpu), HumanPct(gpu.busy_pct.value_or(0)),
                          HumanPct(gpu.idle_pct.value_or(0)))});
  page.Entry(2, {""}, {WorkText(gpu)});
  if (const std::string queue = QueueText(gpu); !queue.empty()) page.Entry(2, {""}, {queue, Style::kDim});
  WriteCauses(gpu, page);
}

}  // namespace loopscope
