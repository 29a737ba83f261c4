#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;  // of the step's work, in float32 matrix products

// GPUs of compute capability 8.0 and later, by the names that the driver gives them.
constexpr std::array<std::string_view, 24> kHasTf32{
    "A100", "A800", "A10",  "A30",  "A40",   "A16",  "A2",     "H100",   "H800",   "H200",  "H20",          "GH200",
    "L4",   "L40",  "B100", "B200", "GB200", "B300", "RTX 30", "RTX 40", "RTX 50", "RTX A", "RTX 6000 Ada", "Orin"};

// Matches whole words: "A10" is not in "A100".
bool Names(std::string_view device, std::string_view model) {
  const std::size_t at = device.find(model);
  if (at == device.npos) return false;
  const std::size_t end = at + model.size();
  const bool family = model.starts_with("RTX");
  const auto letter = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); };
  return (at == 0 || !letter(device[at - 1])) && (family || end == device.size() || !letter(device[end]));
}

bool HasTf32(std::string_view device) {
  return std::ranges::any_of(kHasTf32, [&](std::string_view model) { return Names(device, model); });
}

struct Products {
  CallSites sites;
  std::string_view kernel;  // one of them
};

Products Measure(const Timeline& timeline) {
  Products products;
  const Trace& trace = timeline.trace();
  std::vector<bool> float32;
  for (const std::string& name : trace.strings) float32.push_back(kernels::IsFloat32Matmul(name));
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent& event) {
    if (event.kind != DeviceKind::kKernel || event.name >= float32.size() || !float32[event.name]) return;
    if (!HasTf32(trace.devices[device.index()].name)) return;
    const EventRef launch = device.launch(i);
    const bool known = launch.thread != kNone;
    products.sites.Add(known ? timeline.where(launch) : nullptr, Ms(event.duration_ns()),
                       known ? ModuleOf(timeline, launch) : std::string_view());
    products.kernel = trace.text(event.name);
  });
  return products;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotDevices(timeline)) return {*why_not};
  const Trace& trace = timeline.trace();
  const auto unnamed = [&](const DeviceTimeline& one) { return trace.devices[one.index()].name.empty(); };
  if (std::ranges::all_of(timeline.devices(), unnamed)) {
    return {Finding::CannotTell("the trace does not name the GPU, so its units are not known")};
  }
  const auto has_tf32 = [&](const DeviceTimeline& one) { return HasTf32(trace.devices[one.index()].name); };
  if (std::ranges::none_of(timeline.devices(), has_tf32)) {
    return {Finding::NotApplicable("this GPU has no TensorFloat-32 units")};
  }
  const Products products = Measure(timeline);
  const double ms = MsPerStep(timeline, products.sites.ms());
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("float32 matrix products take {} per step ({}) on a GPU whose TensorFloat-32 "
                                "units could do them",
                                MsText(ms), ShareText(timeline, ms)));
  finding.severity = std::min(finding.severity, Severity::kMedium);  // an upper bound: the rest depends on memory
  finding.evidence = products.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} products per step in {}, such as {}",
                       CountPerStep(timeline, static_cast<double>(site.count)), MsText(MsPerStep(timeline, site.ms)),
                       products.kernel.substr(0, 60));
  });
  return {finding};
}

}  // namespace

extern const Analyzer kTf32Off{.id = "tf32-off",
                               .question = "Are float32 matrix products kept off the TensorFloat-32 units?",
                               .run = Run,
                               .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
