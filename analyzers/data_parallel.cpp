#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;

// What torch.nn.DataParallel and torch::nn::parallel::data_parallel do around every forward pass, as PyTorch names it.
constexpr auto kSigns = std::to_array<std::string_view>({"DataParallel.forward", "Scatter", "Gather", "Broadcast",
                                                         "torch::autograd::Scatter", "torch::autograd::Gather",
                                                         "ScatterBackward", "GatherBackward", "BroadcastBackward"});

bool IsSign(std::string_view name) {
  constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";
  if (name.starts_with(kNode)) name.remove_prefix(kNode.size());
  return std::ranges::find(kSigns, name) != kSigns.end();
}

// How long the devices idle on average, in ms per step: an upper bound of what a process per device would save.
double CostMs(const Timeline& timeline) {
  std::int64_t busy_ns = 0;
  for (const DeviceTimeline& device : timeline.devices()) busy_ns += device.times().busy;
  const auto devices = static_cast<std::int64_t>(timeline.devices().size());
  const double steps_ms = timeline.mean_step_ms() * static_cast<double>(timeline.steady().size());
  return MsPerStep(timeline, std::max(0.0, steps_ms - Ms(busy_ns / devices)));
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.devices().size() < 2) return {Finding::NotApplicable("one process works on fewer than two devices")};
  const Trace& trace = timeline.trace();
  std::vector<bool> signs(trace.strings.size());
  for (std::size_t i = 0; i < signs.size(); ++i) signs[i] = IsSign(trace.strings[i]);
  CallSites sites;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.name < signs.size() && signs[event.name]) sites.Add(timeline.where(ref), Ms(event.duration_ns()));
  });
  if (static_cast<double>(sites.count()) < static_cast<double>(timeline.steady().size())) return {};
  if (!DevicesKnown(timeline)) return {*WhyNotDevices(timeline)};
  const double cost_ms = CostMs(timeline);
  if (SharePct(timeline, cost_ms) < kMinSharePct) return {};
  Finding finding = Costing(timeline, cost_ms,
                            fmt::format("one process feeds {} devices, which idle {} per step on average",
                                        timeline.devices().size(), MsText(cost_ms)));
  sites.FoldUnknown();
  finding.evidence = sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("the batch is scattered, the model replicated and outputs gathered: {:.3g} calls per step",
                       CountPerStep(timeline, static_cast<double>(site.count)));
  });
  const std::string_view told = FactOf(trace, "data_parallel.where");
  if (!told.empty() && !finding.evidence.empty() && !finding.evidence.front().where) {
    finding.evidence.front().where = PlaceOf(told);
  }
  return {finding};
}

}  // namespace

extern const Analyzer kDataParallel{
    .id = "data-parallel", .question = "Does one process drive several devices?", .run = Run};

}  // namespace loopscope
