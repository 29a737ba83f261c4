#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyzers/shared/anomaly_cost.h"
#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/precision.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 20;  // of the step's work, in float32 convolutions and matrix products
constexpr double kMinGain = 0.05;    // of these layers' time: less would be lost in the code around them
constexpr std::string_view kChange = "amp=bf16";
constexpr double kMaxUnknownShare = 0.5;  // of the compute time, whose input types were not recorded

constexpr std::array<std::string_view, 3> kFastUnits{"avx512_bf16", "amx_bf16", "avx512_fp16"};

std::string FastUnits(const RunInfo& run) {
  std::string names;
  for (const std::string_view unit : kFastUnits) {
    if (std::ranges::find(run.cpu_features, unit) == run.cpu_features.end()) continue;
    names += (names.empty() ? "" : ", ") + std::string(unit);
  }
  return names;
}

enum class Type { kUnknown, kFloat32, kOther, kDevice };

// The type of the first defined tensor: all operands of such an op have the same one.
Type TypeOf(std::string_view inputs) {
  for (const TensorText& input : ParseInputs(inputs)) {
    if (!input.is_tensor || !input.defined) continue;
    if (!input.device.empty()) return Type::kDevice;
    return input.dtype == "f32" ? Type::kFloat32 : Type::kOther;
  }
  return Type::kUnknown;
}

// Input types by (name, shape hash): what the detail window showed holds for the same op in every other step.
class Types {
 public:
  Types(const Timeline& timeline, const NameSet& compute) {
    timeline.ForEachDetailed([&](EventRef ref) {
      const Event& event = timeline.event(ref);
      if (!compute.Has(event) || event.shape_hash == 0) return;
      const Type type = TypeOf(timeline.inputs(ref));
      if (type != Type::kUnknown) types_[{event.name, event.shape_hash}] = type;
    });
  }

  Type Of(const Timeline& timeline, EventRef ref) const {
    const Event& event = timeline.event(ref);
    const Type own = TypeOf(timeline.inputs(ref));
    if (own != Type::kUnknown) return own;
    const auto found = types_.find({event.name, event.shape_hash});
    return found == types_.end() ? Type::kUnknown : found->second;
  }

 private:
  std::map<std::pair<StringId, std::uint32_t>, Type> types_;
};

struct Compute {
  std::array<double, 4> ms{};  // by Type, in total over the steady steps
  CallSites sites;             // float32, forward, of the detail window
  double total() const { return ms[0] + ms[1] + ms[2] + ms[3]; }
  double of(Type type) const { return ms[static_cast<std::size_t>(type)]; }
};

// Goes through the steady steps in order of time and adds up the outermost convolutions and matrix products.
class Meter {
 public:
  explicit Meter(const Timeline& timeline)
      : timeline_(timeline),
        compute_(timeline.trace(), ops::IsProduct),
        nodes_(timeline.trace(), ops::IsBackwardNode),
        types_(timeline, compute_),
        recording_ms_(MeasureAnomaly(timeline).ms_per_node),
        slowed_recording_ms_(recording_ms_ / DetailRatio(timeline)) {}

  Compute Measure() {
    timeline_.ForEachSteady([&](EventRef ref) { Visit(ref); });
    Close();
    for (const auto& [name, ms] : ms_by_name_) Share(ms);
    return std::move(measured_);
  }

 private:
  bool InTop(EventRef ref) const {
    return Exists(top_) && ref.thread == top_.thread &&
           timeline_.event(ref).start_ns >= timeline_.event(top_).start_ns &&
           timeline_.event(ref).end_ns <= timeline_.event(top_).end_ns;
  }

  void Visit(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (!InTop(ref)) {
      Close();
      if (!compute_.Has(event) || timeline_.inside(ref, RangeCategory::kOptimizer)) return;
      top_ = ref;
      ms_ = Ms(event.duration_ns());
    }
    if ((event.flags & wire::kOpAnomaly) && (event.flags & wire::kOpGraph)) {
      // Anomaly mode's own operators are not the layer's.
      const bool slowed = Disturbed(timeline_, event.start_ns);
      ms_ -= std::min(slowed ? slowed_recording_ms_ : recording_ms_, Ms(timeline_.self_ns(ref)));
    }
    // The innermost decides: under autocast the outer op still has float32 inputs, the inner one their 16-bit copies.
    if (!compute_.Has(event)) return;
    if (const Type own = types_.Of(timeline_, ref); own != Type::kUnknown) type_ = own;
    const bool autocast = timeline_.event(top_).flags & wire::kOpAutocast;
    if (autocast && type_ == Type::kFloat32) type_ = Type::kOther;
  }

  // Probes record shapes in some steps only: split unknown time like the known time of the same operator.
  void Share(const std::array<double, 4>& ms) {
    const double unknown = ms[0], known = ms[1] + ms[2] + ms[3];
    if (known == 0) measured_.ms[0] += unknown;
    for (std::size_t type = 1; known > 0 && type < ms.size(); ++type) {
      measured_.ms[type] += ms[type] * (1 + unknown / known);
    }
  }

  void Close() {
    if (!Exists(top_)) return;
    ms_by_name_[timeline_.event(top_).name][static_cast<std::size_t>(type_)] += ms_;
    const bool forward = !HasAncestor(timeline_, top_, [&](const Event& up) { return nodes_.Has(up); });
    const Where* where = timeline_.where(top_);
    if (type_ == Type::kFloat32 && forward && where) measured_.sites.Add(where, ms_, ModuleOf(timeline_, top_));
    top_ = {kNone, kNone};
    type_ = Type::kUnknown;
  }

  const Timeline& timeline_;
  NameSet compute_, nodes_;
  Types types_;
  double recording_ms_, slowed_recording_ms_;
  Compute measured_;
  std::map<StringId, std::array<double, 4>> ms_by_name_;  // by Type
  EventRef top_{kNone, kNone};
  double ms_ = 0;
  Type type_ = Type::kUnknown;
};

std::vector<Finding> Run(const Timeline& timeline) {
  if (OnDevice(timeline)) return JudgeFp32OnDevices(timeline);
  const std::string units = FastUnits(timeline.trace().run);
  if (units.empty()) return {Finding::NotApplicable("this CPU has no 16-bit floating point units")};
  const Compute measured = Meter(timeline).Measure();
  if (measured.total() == 0) {
    return {Finding::NotApplicable("no convolution or matrix product was seen in the timed steps")};
  }
  if (measured.of(Type::kDevice) > 0) {
    return {Finding::NotApplicable("the layers run on a device, and this rule looks at the CPU's units")};
  }
  const double ms = MsPerStep(timeline, measured.of(Type::kFloat32));
  if (SharePct(timeline, ms) < kMinSharePct) {
    if (measured.of(Type::kUnknown) < kMaxUnknownShare * measured.total()) return {};
    return {Finding::CannotTell("the input types of most convolutions and matrix products were not recorded")};
  }
  // Whether a CPU's 16-bit units gain anything depends on shapes and on what surrounds the layers.
  const auto ratio = MeasuredRatio(timeline.trace(), kChange);
  if (ratio && *ratio > 1 - kMinGain) {
    return {
        Finding::Clear(fmt::format("on this CPU the program's largest float32 layers, {}, take {:.2f} times as long "
                                   "in bfloat16, measured",
                                   ShareText(timeline, ms), *ratio))};
  }
  Finding finding = CostingAtMost(
      timeline, ms,
      fmt::format("float32 convolutions and matrix products take {}, on a CPU with {}", ShareText(timeline, ms), units),
      Severity::kInfo);
  if (ratio) {
    finding.expected_gain_ms = ms * (1 - *ratio);
    finding.severity = SeverityOfShare(SharePct(timeline, *finding.expected_gain_ms));
    finding.title += fmt::format("; in bfloat16 the largest of them take {:.2f} of the time", *ratio);
  }
  finding.evidence = measured.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("float32 layers: {} per step in the forward pass", MsText(MsPerDetailStep(timeline, site.ms)));
  });
  if (finding.evidence.empty()) {
    finding.evidence.push_back({fmt::format("float32 layers: {} per step, forward and backward", MsText(ms)), 1, {}});
  }
  return {finding};
}

}  // namespace

extern const Analyzer kFp32Compute{
    .id = "fp32-compute",
    .question = "Does the loop compute in float32 although there are faster 16-bit units?",
    .run = Run,
    .needs = kNeedsOps | kNeedsPasses,
    .usual_share = 0.15};

}  // namespace loopscope
