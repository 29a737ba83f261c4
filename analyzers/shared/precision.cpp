#include "analyzers/shared/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

double DetailedMs(const Timeline& timeline) {
  double total = 0;
  for (const std::uint32_t index : timeline.steady()) {
    if (timeline.steps()[index].detail) total += Ms(timeline.steps()[index].time.length());
  }
  return total;
}

}  // namespace

LayerTime MeasureLayers(const Timeline& timeline, const std::function<bool(EventRef)>& of_type) {
  LayerTime measured;
  measured.detailed_ms = DetailedMs(timeline);
  const NameSet layers(timeline.trace(), ops::IsProduct), nodes(timeline.trace(), ops::IsBackwardNode);
  const auto is_layer = [&](const Event& event) { return layers.Has(event); };
  const OpCost cost(timeline);
  double ms = 0;
  EventRef last{kNone, kNone};
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!layers.Has(timeline.event(ref)) || !of_type(ref)) return;
    EventRef top = ref;
    for (EventRef up = Ancestor(timeline, ref, is_layer); Exists(up); up = Ancestor(timeline, up, is_layer)) top = up;
    if (top.thread == last.thread && top.index == last.index) return;
    last = top;
    ms += cost.Ms(top);
    const auto in_optimizer = [](const Event& up) { return up.is_range(RangeCategory::kOptimizer); };
    // A closure's forward pass runs in there too, but records a graph.
    const bool update = !(timeline.event(ref).flags & wire::kOpGraph) && HasAncestor(timeline, top, in_optimizer);
    const bool backward = HasAncestor(timeline, top, [&](const Event& up) { return nodes.Has(up); });
    const Where* where = timeline.where(top);
    if (update) {
      measured.updates.Add(where, cost.Ms(top));
    } else if (!backward && where) {
      measured.sites.Add(where, cost.Ms(top), ModuleOf(timeline, top));
    }
  });
  measured.share = measured.detailed_ms > 0 ? ms / measured.detailed_ms : 0;
  return measured;
}

std::vector<Evidence> LayerTime::Describe(std::string_view type) const {
  std::vector<Evidence> layers = sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{} layers: {:.0f} % of the step in the forward pass", type, SitePct(site));
  });
  std::vector<Evidence> products = updates.Describe([&](const CallSites::Site& site) {
    return fmt::format("{} products of the optimizer: {:.0f} % of the step", type, SitePct(site));
  });
  if (updates.ms() > sites.ms()) layers.swap(products);
  layers.insert(layers.end(), products.begin(), products.end());
  return layers;
}

namespace {

using kernels::Factors;

constexpr double kMinSharePct = 20;       // of the step's work
constexpr double kMaxUnknownShare = 0.5;  // of such kernels' time, whose names do not show their type

// Before Volta: no tensor cores.
constexpr std::array<std::string_view, 9> kWithoutUnits{"K40", "K80",   "M40",    "M60",    "P4",
                                                        "P40", "GTX 9", "GTX 10", "TITAN X"};

bool LacksUnits(std::string_view device) {
  return std::ranges::any_of(kWithoutUnits, [&](std::string_view model) {
    const std::size_t at = device.find(model);
    if (at == device.npos || (at > 0 && device[at - 1] != ' ')) return false;
    const std::size_t end = at + model.size();
    return model.starts_with("GTX") || end == device.size() || device[end] == ' ' || device[end] == '-';
  });
}

struct Measured {
  std::array<double, kernels::kFactors> ms{};  // by Factors, in total
  CallSites sites;                             // float32
  double of(Factors factors) const { return ms[static_cast<std::size_t>(factors)]; }
};

Measured Measure(const Timeline& timeline) {
  std::vector<Factors> factors;
  for (const std::string& name : timeline.trace().strings) factors.push_back(kernels::FactorsOf(name));
  Measured measured;
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent& event) {
    if (event.kind != DeviceKind::kKernel || event.name >= factors.size()) return;
    measured.ms[static_cast<std::size_t>(factors[event.name])] += Ms(event.duration_ns());
    if (factors[event.name] != Factors::kFloat32) return;
    const EventRef launch = device.launch(i);
    if (const Where* where = launch.thread == kNone ? nullptr : timeline.where(launch)) {
      measured.sites.Add(where, Ms(event.duration_ns()));
    }
  });
  for (double& ms : measured.ms) ms /= static_cast<double>(timeline.devices().size());
  return measured;
}

}  // namespace

std::vector<Finding> JudgeFp32OnDevices(const Timeline& timeline) {
  if (const auto why_not = WhyNotDevices(timeline)) return {*why_not};
  const Trace& trace = timeline.trace();
  const auto lacks_units = [&](const DeviceTimeline& one) { return LacksUnits(trace.devices[one.index()].name); };
  if (std::ranges::all_of(timeline.devices(), lacks_units)) {
    return {Finding::NotApplicable("this GPU has no 16-bit tensor cores")};
  }
  const Measured measured = Measure(timeline);
  const double known = measured.of(Factors::kFloat32) + measured.of(Factors::k16Bit) + measured.of(Factors::kOther);
  const double unknown = measured.of(Factors::kUnknown);
  if (known + unknown == 0) {
    return {Finding::NotApplicable("no convolution or matrix product was seen in the timed steps")};
  }
  const double ms = MsPerStep(timeline, measured.of(Factors::kFloat32));
  if (SharePct(timeline, ms) < kMinSharePct) {
    if (unknown < kMaxUnknownShare * (known + unknown)) return {};
    return {Finding::CannotTell("the kernels' names do not show the types of most convolutions and matrix products")};
  }
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("float32 convolutions and matrix products take {} on a GPU with 16-bit units",
                                ShareText(timeline, ms)));
  finding.evidence = measured.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("float32 layers: {} per step on the GPU", MsText(MsPerStep(timeline, site.ms)));
  });
  if (finding.evidence.empty()) {
    finding.evidence.push_back({fmt::format("float32 layers: {} per step on the GPU", MsText(ms)), 1, {}});
  }
  return {finding};
}

std::optional<double> MeasuredRatio(const Trace& trace, std::string_view change) {
  double before_ns = 0, after_ns = 0;
  for (const MeasuredGain& gain : trace.gains) {
    if (gain.change != change) continue;
    before_ns += static_cast<double>(gain.before_ns) * gain.count;
    after_ns += static_cast<double>(gain.after_ns) * gain.count;
  }
  if (before_ns <= 0) return std::nullopt;
  return after_ns / before_ns;
}

}  // namespace loopscope
