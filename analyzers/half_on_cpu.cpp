#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;  // of the detailed steps

struct HalfType {
  std::string_view dtype, name;
  std::array<std::string_view, 2> units;  // processors that have one of these compute in it
};
constexpr std::array kTypes = {HalfType{"f16", "float16", {"avx512_fp16", "amx_fp16"}},
                               HalfType{"bf16", "bfloat16", {"avx512_bf16", "amx_bf16"}}};

bool IsLayer(std::string_view name) {
  return ops::IsConvolution(name) || ops::IsMatmul(name);
}

// The 16-bit type of an operator's tensors on the CPU that this processor has no units for; null when it is none.
const HalfType* SlowType(const Timeline& timeline, EventRef ref) {
  for (const TensorText& input : ParseInputs(timeline.inputs(ref))) {
    if (!input.is_tensor || !input.defined) continue;
    if (!input.device.empty()) return nullptr;
    const auto type = std::ranges::find(kTypes, input.dtype, &HalfType::dtype);
    if (type == kTypes.end()) return nullptr;
    const std::vector<std::string>& has = timeline.trace().run.cpu_features;
    const bool fast = std::ranges::any_of(
        type->units, [&](std::string_view unit) { return std::ranges::find(has, unit) != has.end(); });
    return fast ? nullptr : &*type;
  }
  return nullptr;
}

struct Found {
  const HalfType* type = nullptr;
  double ms = 0;    // in all detailed steps
  CallSites sites;  // in the forward pass, whose lines choose the type
};

// Under autocast the outer operator has float32 inputs and the one inside it their 16-bit copies: the outermost counts,
// whatever shows the type.
Found Measure(const Timeline& timeline) {
  Found found;
  const NameSet layers(timeline.trace(), IsLayer), nodes(timeline.trace(), ops::IsBackwardNode);
  EventRef last{kNone, kNone};
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!layers.Has(timeline.event(ref))) return;
    const HalfType* type = SlowType(timeline, ref);
    if (type == nullptr) return;
    EventRef top = ref;
    for (EventRef up = Ancestor(timeline, ref, [&](const Event& event) { return layers.Has(event); }); Exists(up);
         up = Ancestor(timeline, up, [&](const Event& event) { return layers.Has(event); })) {
      top = up;
    }
    if (top.thread == last.thread && top.index == last.index) return;
    last = top;
    found.type = type;
    const double ms = Ms(timeline.event(top).duration_ns());
    found.ms += ms;
    const bool forward = !HasAncestor(timeline, top, [&](const Event& up) { return nodes.Has(up); });
    const Where* where = timeline.where(top);
    if (forward && where) found.sites.Add(where, ms, ModuleOf(timeline, top));
  });
  return found;
}

// Of the detailed steps, in which operators take as long as elsewhere but what lies between them does not.
double DetailedMs(const Timeline& timeline) {
  double total = 0;
  for (const std::uint32_t index : timeline.steady()) {
    if (timeline.steps()[index].detail) total += Ms(timeline.steps()[index].time.length());
  }
  return total;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) return {Finding::CannotTell(WhyNoDetail(timeline))};
  if (timeline.trace().run.cpu.empty() && timeline.trace().run.cpu_features.empty()) {
    return {Finding::CannotTell("the trace does not record which units the processor has")};
  }
  const Found found = Measure(timeline);
  if (found.type == nullptr) return {};
  const double share = found.ms / DetailedMs(timeline);
  if (100 * share < kMinSharePct) return {};
  Finding finding = CostingAtMost(timeline, share * timeline.mean_step_ms(),
                                  fmt::format("{} layers take {:.0f} % of the step on a processor without units for {}",
                                              found.type->name, 100 * share, found.type->name));
  finding.evidence = found.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{} layers: {:.0f} % of the step in the forward pass", found.type->name,
                       100 * site.ms / DetailedMs(timeline));
  });
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kHalfOnCpu{
    .id = "half-on-cpu", .question = "Does a CPU compute in a 16-bit type that it has no units for?", .run = Run};

}  // namespace loopscope
