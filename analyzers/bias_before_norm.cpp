#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/text.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

// aten::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)
constexpr std::size_t kTrainingInput = 5;

// The gradient of a bias is one pass over the gradient of the layer's output. A batch norm's backward makes at least
// three passes over tensors of that size: it reads its input and that gradient, and writes another.
constexpr double kPassShareOfNormBackward = 1.0 / 3;

bool IsLayer(std::string_view name) {
  return (ops::IsConvolution(name) && !name.ends_with("_backward")) || name == "aten::linear" || name == "aten::addmm";
}

bool HasBias(std::string_view name, std::string_view inputs) {
  const std::vector<TensorText> all = ParseInputs(inputs);
  // torch::nn::Linear calls aten::addmm(bias, input, weight^T) itself; a matrix there is an addend, not a bias.
  if (name == "aten::addmm") return !all.empty() && all[0].defined && all[0].sizes.size() == 1;
  return all.size() > 2 && all[2].is_tensor && all[2].defined;  // conv*(input, weight, bias, …), linear likewise
}

bool Trains(std::string_view inputs) {
  const std::vector<TensorText> all = ParseInputs(inputs);
  return all.size() > kTrainingInput && all[kTrainingInput].scalar == "true";
}

bool IsNormBackward(std::string_view name) {
  return name.starts_with("aten::") && name.ends_with("batch_norm_backward");
}

struct Matches {
  CallSites sites;            // layers whose bias can be dropped, over the detail steps
  double share_of_norms = 0;  // of all elements that training batch norms read
  bool norm = false;          // a training-mode batch norm was seen
};

std::int64_t ElementsOf(std::string_view inputs) {
  const std::vector<TensorText> all = ParseInputs(inputs);
  return all.empty() ? 0 : all[0].elements();
}

class Search {
 public:
  explicit Search(const Timeline& timeline)
      : timeline_(timeline), layers_(timeline.trace(), IsLayer), norms_(timeline.trace(), ops::IsBatchNorm) {
    timeline.ForEachDetailed([&](EventRef ref) {
      const EventDetail* detail = timeline.detail(ref);
      if (detail == nullptr || !timeline.outermost_op(ref)) return;
      if (norms_.Has(timeline.event(ref)) && Trains(timeline.inputs(ref))) training_norms_.push_back(ref);
      for (const std::uint32_t sequence : timeline.input_producers(ref)) ++readers_[sequence];
    });
  }

  Matches Find() const {
    Matches matches;
    matches.norm = !training_norms_.empty();
    double matched = 0, elements = 0;
    for (const EventRef norm : training_norms_) {
      const double size = static_cast<double>(ElementsOf(timeline_.inputs(norm)));
      elements += size;
      const EventRef layer = LayerBefore(norm);
      if (!Exists(layer)) continue;
      matched += size;
      matches.sites.Add(timeline_.where(layer), 0, ModuleOf(timeline_, layer));
    }
    matches.share_of_norms = elements > 0 ? matched / elements : 0;
    return matches;
  }

 private:
  // The outermost layer with a bias that made the norm's input, when nothing else reads that output.
  EventRef LayerBefore(EventRef norm) const {
    constexpr EventRef kNothing{kNone, kNone};
    const std::uint32_t sequence = timeline_.detail(norm)->producer;
    const EventRef made = timeline_.producer(sequence);
    if (!Exists(made) || timeline_.event(made).end_ns > timeline_.event(norm).start_ns) return kNothing;
    if (timeline_.step_at(timeline_.event(made).start_ns) != timeline_.step_at(timeline_.event(norm).start_ns)) {
      return kNothing;
    }
    if (readers_.at(sequence) > 1) return kNothing;
    EventRef layer = kNothing;
    for (EventRef up = made; Exists(up); up = {made.thread, timeline_.parent(up)}) {
      if (layers_.Has(timeline_.event(up))) layer = up;
    }
    if (!Exists(layer) || !HasBias(timeline_.name(layer), timeline_.inputs(layer))) return kNothing;
    return layer;
  }

  const Timeline& timeline_;
  NameSet layers_, norms_;
  std::vector<EventRef> training_norms_;
  std::unordered_map<std::uint32_t, int> readers_;  // outermost ops by the sequence numbers of their inputs' makers
};

// Time of norms and of work on each parameter, per training step.
struct Upkeep {
  double norm_backward_ms = 0;
  double ms_per_parameter = 0;  // optimizer, zero_grad and gradient accumulation
};

Upkeep MeasureUpkeep(const Timeline& timeline) {
  const NameSet accumulations(timeline.trace(), ops::IsAccumulateNode), norms(timeline.trace(), IsNormBackward);
  const OpCost cost(timeline);
  double ms = 0, parameters = 0, norm_ms = 0;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    const bool accumulation = accumulations.Has(event);
    parameters += accumulation;
    if (event.is_range(RangeCategory::kOptimizer) || event.is_range(RangeCategory::kZeroGrad) || accumulation) {
      ms += cost.Ms(ref);
    }
    const auto norm = [&](const Event& up) { return norms.Has(up); };
    if (norms.Has(event) && !HasAncestor(timeline, ref, norm)) norm_ms += cost.Ms(ref);
  });
  return {MsPerStep(timeline, norm_ms, Part::kBackward),
          parameters > 0 ? MsPerStep(timeline, ms) / CountPerStep(timeline, parameters) : 0};
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so the layers' inputs are not known")};
  }
  const Matches matches = Search(timeline).Find();
  if (!matches.norm) return {Finding::NotApplicable("no batch norm in training mode was seen")};
  if (timeline.trace().run.source != "capture") {
    return {Finding::CannotTell("the trace does not say which operator made another's input")};
  }
  if (matches.sites.empty()) return {};
  const double steps = timeline.detail_steps();
  const double biases = static_cast<double>(matches.sites.count()) / steps;
  const Upkeep upkeep = MeasureUpkeep(timeline);
  const double cost_ms =
      kPassShareOfNormBackward * matches.share_of_norms * upkeep.norm_backward_ms + biases * upkeep.ms_per_parameter;
  Finding finding = Costing(timeline, std::min(cost_ms, timeline.mean_step_ms()),
                            fmt::format("{} per step {} added and then removed by a batch norm",
                                        Counted(std::round(biases), "bias", "biases"), biases < 1.5 ? "is" : "are"));
  finding.severity = std::max(finding.severity, Severity::kLow);
  finding.evidence = matches.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("a layer with bias goes straight into a training batch norm, {}",
                       TimesPerStep(static_cast<double>(site.count) / steps));
  });
  finding.evidence.push_back(
      {fmt::format("at most {} per step: one pass over each output for the biases' gradients, and their share of the "
                   "optimizer's work",
                   MsText(cost_ms)),
       1,
       {}});
  return {finding};
}

}  // namespace

extern const Analyzer kBiasBeforeNorm{.id = "bias-before-norm",
                                      .question = "Do layers add a bias that a batch norm removes?",
                                      .run = Run,
                                      .needs = kNeedsOps | kNeedsPasses | kNeedsCosts};

}  // namespace loopscope
