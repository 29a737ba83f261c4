// What the devices did, and why they were idle.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/printable.h"
#include "profiler/core/text.h"
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

std::string CollectiveText(const CollectiveRow& row) {
  std::string text = Printable(row.operation, 40);
  if (!row.group.empty()) text += " of group " + Printable(row.group, 60);
  if (row.ranks > 0) text += fmt::format(", {} ranks", row.ranks);
  if (!row.phase.empty()) text += fmt::format(", in {}", Printable(row.phase, 40));
  text += fmt::format(": {} per step, {} of it exposed", HumanMs(row.ms), HumanMs(row.exposed_ms));
  if (row.mbytes) text += fmt::format("; {} MB in {}", HumanCount(*row.mbytes), Counted(row.count, "message"));
  if (row.bus_gbytes_per_s) text += fmt::format(", {} GB/s on the bus", HumanCount(*row.bus_gbytes_per_s));
  if (row.skew_ms) text += fmt::format("; {} of it is waiting for the last rank", HumanMs(*row.skew_ms));
  return text;
}

}  // namespace

void WriteCollectives(const Report& report, Page& page) {
  constexpr std::size_t kMostRows = 6;
  if (report.collectives.empty()) return;
  page.Heading("What it exchanges with other ranks");
  for (std::size_t i = 0; i < std::min(report.collectives.size(), kMostRows); ++i) {
    page.Entry(2, {""}, {CollectiveText(report.collectives[i])});
  }
  if (report.collectives.size() > kMostRows) {
    page.Entry(2, {""}, {fmt::format("{} more in --json", report.collectives.size() - kMostRows), Style::kDim});
  }
}

void WriteGpu(const Report& report, Page& page) {
  if (!report.gpu || !(report.gpu->span_us > 0)) return;
  const GpuFacts& gpu = *report.gpu;
  page.Heading("The GPU");
  if (gpu.busy_pct && gpu.idle_pct) {
    page.Entry(
        2, {""},
        {fmt::format("{}: busy {}, idle {}", WindowText(gpu), HumanPct(*gpu.busy_pct), HumanPct(*gpu.idle_pct))});
  } else {
    const std::string why = gpu.incomplete.empty() ? "" : ": " + Printable(gpu.incomplete);
    page.Entry(2, {""}, {fmt::format("{}: how busy is not known{}", WindowText(gpu), why)});
  }
  page.Entry(2, {""}, {(gpu.incomplete.empty() ? "" : "in the trace: ") + WorkText(gpu)});
  if (const std::string queue = QueueText(gpu); !queue.empty()) page.Entry(2, {""}, {queue, Style::kDim});
  WriteCauses(gpu, page);
}

}  // namespace loopscope
