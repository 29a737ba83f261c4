#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/precision.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;  // of the detailed steps

struct HalfType {
  std::string_view dtype, name;
  std::array<std::string_view, 2> units;  // processors with one of these compute in that type
};
constexpr std::array kTypes = {HalfType{"f16", "float16", {"avx512_fp16", "amx_fp16"}},
                               HalfType{"bf16", "bfloat16", {"avx512_bf16", "amx_bf16"}}};

// The 16-bit type of an operator's CPU tensors that this processor has no units for; null if there is none.
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

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) return {Finding::CannotTell(WhyNoDetail(timeline))};
  if (timeline.trace().run.cpu.empty() && timeline.trace().run.cpu_features.empty()) {
    return {Finding::CannotTell("the trace does not record which units the processor has")};
  }
  const HalfType* type = nullptr;
  const LayerTime layers = MeasureLayers(timeline, [&](EventRef ref) {
    const HalfType* own = SlowType(timeline, ref);
    if (own != nullptr) type = own;
    return own != nullptr;
  });
  if (type == nullptr || 100 * layers.share < kMinSharePct) return {};
  const bool updates = layers.updates.ms() > layers.sites.ms();
  const std::string_view what = updates ? "products of the optimizer" : "layers";
  Finding finding = CostingAtMost(timeline, layers.share * timeline.mean_step_ms(),
                                  fmt::format("{} {} take {:.0f} % of the step on a processor without units for {}",
                                              type->name, what, 100 * layers.share, type->name));
  finding.evidence = layers.Describe(type->name);
  if (updates) {
    finding.advice = fmt::format(
        "The optimizer computes its update in {}: on this machine take one that computes in float32, or train where "
        "the "
        "processor has units for {}.",
        type->name, type->name);
  }
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kHalfOnCpu{.id = "half-on-cpu",
                                 .question = "Does a CPU compute in a 16-bit type that it has no units for?",
                                 .run = Run,
                                 .usual_share = 0.9};

}  // namespace loopscope
