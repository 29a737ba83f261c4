#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;        // of the step's work
constexpr double kMinShareOfBatch = 0.5;  // of the batch's bytes: labels and single samples are not a batch

// aten::_to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format);
// c10::MemoryFormat: 0 contiguous, 1 preserve, 2 and 3 channels last.
constexpr std::size_t kFormatOfToCopy = 6;

bool IsCopyOrTo(std::string_view name) {
  return ops::IsCopy(name) || name == "aten::to";
}

// The activation that a layer reads: the batch, for the first layer of a step.
const TensorText* Activation(std::string_view name, const std::vector<TensorText>& inputs) {
  const bool second = name == "aten::addmm" || name == "aten::embedding";  // (bias, input, …), (weight, indices, …)
  const std::size_t index = second ? 1 : 0;
  return index < inputs.size() && inputs[index].defined ? &inputs[index] : nullptr;
}

bool IsFirstLayer(std::string_view name) {
  return ops::IsProduct(name) || name == "aten::embedding";
}

// Copies between the loader's start and the forward pass, as candidates: the batch's size is known only afterwards.
struct Copy {
  EventRef outermost;
  TensorText made;       // what was copied
  bool written = false;  // a tensor of its shape is written in place later, so it may be needed
  bool viewed = false;   // a view of its shape was taken, which may be written likewise

  std::int64_t bytes() const { return made.bytes(); }
};

// A copy by the loop itself into memory that the program keeps, such as the input of a captured graph.
bool IsBareCopy(std::string_view name) {
  return name == "aten::copy_";
}

// Operators that overwrite all of their first input: no copy is made for their sake.
bool Overwrites(std::string_view name) {
  constexpr std::string_view kNames[] = {"aten::copy_",   "aten::zero_",    "aten::fill_",     "aten::normal_",
                                         "aten::random_", "aten::uniform_", "aten::bernoulli_"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// Operators that write their first input; those that only change its view do not count.
bool IsInPlace(std::string_view name) {
  constexpr std::string_view kNotWriting[] = {"aten::requires_grad_", "aten::detach_",     "aten::squeeze_",
                                              "aten::unsqueeze_",     "aten::transpose_",  "aten::t_",
                                              "aten::rename_",        "aten::as_strided_", "aten::swapaxes_",
                                              "aten::swapdims_"};
  return name.starts_with("aten::") && name.ends_with('_') &&
         std::ranges::find(kNotWriting, name) == std::end(kNotWriting);
}

class StepCopies {
 public:
  StepCopies(const Timeline& timeline)
      : timeline_(timeline),
        copies_(timeline.trace(), IsCopyOrTo),
        in_place_(timeline.trace(), IsInPlace),
        views_(timeline.trace(), ops::IsView),
        overwrites_(timeline.trace(), Overwrites),
        cost_(timeline) {}

  double CostMs(const Copy& copy) const { return cost_.Ms(copy.outermost); }

  // A copy that changes neither type nor device nor layout, and that is not part of another operator (stack, cat,
  // contiguous, pin_memory, a convolution).
  std::optional<Copy> Needless(EventRef ref) const {
    if (timeline_.name(ref) != "aten::copy_") return std::nullopt;
    const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(ref));
    if (inputs.size() < 2 || !inputs[0].defined || !inputs[1].defined) return std::nullopt;
    const TensorText &to = inputs[0], &from = inputs[1];
    if (to.dtype != from.dtype || !to.device.empty() || !from.device.empty() || to.sizes != from.sizes) {
      return std::nullopt;
    }
    EventRef outermost = ref;
    for (EventRef up = ref; Exists(up); up = {ref.thread, timeline_.parent(up)}) {
      if (timeline_.event(up).kind != EventKind::kOp) continue;
      if (!copies_.Has(timeline_.event(up)) || ChangesLayout(up)) return std::nullopt;
      outermost = up;
    }
    return Copy{outermost, to};
  }

  // Notes which of `copies`, made earlier, this operator writes.
  void NoteWrites(EventRef ref, std::vector<Copy>& copies) const {
    const Event& event = timeline_.event(ref);
    const bool writes = in_place_.Has(event), views = views_.Has(event);
    if (copies.empty() || (!writes && !views) || !timeline_.outermost_op(ref)) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(ref));
    if (inputs.empty() || !inputs[0].defined) return;
    for (Copy& copy : copies) {
      if (event.start_ns < timeline_.event(copy.outermost).end_ns || inputs[0].dtype != copy.made.dtype) continue;
      const bool same = inputs[0].sizes == copy.made.sizes;
      copy.viewed |= views && same;
      const bool part = copy.viewed && !same && inputs[0].elements() <= copy.made.elements();
      copy.written |= writes && (part || (same && !overwrites_.Has(event)));
    }
  }

 private:
  bool ChangesLayout(EventRef ref) const {
    if (timeline_.name(ref) != "aten::_to_copy") return false;
    const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(ref));
    if (inputs.size() <= kFormatOfToCopy) return false;
    const std::string_view format = inputs[kFormatOfToCopy].scalar;
    return format == "0" || format == "2" || format == "3";
  }

  const Timeline& timeline_;
  NameSet copies_, in_place_, views_, overwrites_;
  OpCost cost_;
};

struct Batch {
  std::int64_t bytes = 0;
  std::int64_t samples = 0;  // the first dimension
};

struct Found {
  CallSites training, loading;  // on the training thread, on loader threads; over the detail steps
  CallSites written, kept;      // may be needed: written in place afterwards, or into memory that the program keeps
  bool batch_known = false;
};

CallSites& PlaceOf(const Timeline& timeline, const Copy& copy, CallSites& needless, Found& found) {
  if (IsBareCopy(timeline.name(copy.outermost))) return found.kept;
  return copy.written ? found.written : needless;
}

// Batch-sized copies on another thread of the same process: they cost only what the loop then waits for.
void AddLoaderThreads(const Timeline& timeline, const StepCopies& copies, const Step& step, Batch batch, Found& found) {
  const double least_bytes = kMinShareOfBatch * static_cast<double>(batch.bytes);
  for (std::uint32_t thread = 0; thread < timeline.trace().threads.size(); ++thread) {
    if (thread == timeline.training_thread()) continue;
    std::vector<Copy> made;
    timeline.ForEach(thread, step.time, [&](EventRef ref) {
      if (timeline.event(ref).kind != EventKind::kOp) return;
      copies.NoteWrites(ref, made);
      const std::optional<Copy> copy = copies.Needless(ref);
      if (copy && static_cast<double>(copy->bytes()) >= least_bytes) made.push_back(*copy);
    });
    for (const Copy& copy : made) {
      PlaceOf(timeline, copy, found.loading, found)
          .Add(timeline.where(copy.outermost), Ms(timeline.event(copy.outermost).duration_ns()));
    }
  }
}

void AddStep(const Timeline& timeline, const StepCopies& copies, const NameSet& layers, const Step& step,
             Found& found) {
  std::vector<Copy> candidates;
  Batch batch;
  bool loading = !timeline.loader_known();
  timeline.ForEach(timeline.training_thread(), step.time, [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.is_range(RangeCategory::kLoader)) loading = true;
    if (event.kind != EventKind::kOp) return;
    if (event.flags & wire::kOpGraph) {
      loading = false;
      if (batch.bytes == 0 && layers.Has(event)) {
        const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
        const TensorText* activation = Activation(timeline.name(ref), inputs);
        if (activation != nullptr && !activation->sizes.empty()) batch = {activation->bytes(), activation->sizes[0]};
      }
      return;
    }
    if (!loading) return;
    copies.NoteWrites(ref, candidates);
    if (const std::optional<Copy> copy = copies.Needless(ref)) candidates.push_back(*copy);
  });
  if (batch.bytes == 0) return;
  found.batch_known = true;
  // With one sample per batch, a copy out of a reused buffer looks the same and is needed.
  if (batch.samples <= 1) return;
  for (const Copy& copy : candidates) {
    if (static_cast<double>(copy.bytes()) < kMinShareOfBatch * static_cast<double>(batch.bytes)) continue;
    PlaceOf(timeline, copy, found.training, found).Add(timeline.where(copy.outermost), copies.CostMs(copy));
  }
  AddLoaderThreads(timeline, copies, step, batch, found);
}

// kCannotTell when copies that matter may be needed.
std::vector<Finding> WhyUnsure(const Timeline& timeline, const Found& found) {
  if (SharePct(timeline, MsPerDetailStep(timeline, found.written.ms())) >= kMinSharePct) {
    return {
        Finding::CannotTell("the batch is copied and then written in place: whether it may be written is not known")};
  }
  if (SharePct(timeline, MsPerDetailStep(timeline, found.kept.ms())) >= kMinSharePct) {
    return {
        Finding::CannotTell("the batch is copied into memory that the program keeps: whether it must be is not known")};
  }
  return {};
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so the sizes of copies are not known")};
  }
  const StepCopies copies(timeline);
  const NameSet layers(timeline.trace(), IsFirstLayer);
  Found found;
  for (const std::uint32_t index : timeline.steady()) {
    if (timeline.steps()[index].detail) AddStep(timeline, copies, layers, timeline.steps()[index], found);
  }
  if (!found.batch_known) {
    return {Finding::CannotTell("no layer that reads the batch was seen, so the batch's size is not known")};
  }
  const double steps = timeline.detail_steps();
  const double exposed_loading =
      std::min(MsPerDetailStep(timeline, found.loading.ms()), timeline.part_ms(Part::kLoaderWait));
  const double ms = MsPerDetailStep(timeline, found.training.ms()) + exposed_loading;
  Finding finding =
      Costing(timeline, ms, fmt::format("the whole batch is copied on the CPU before use: {} per step", MsText(ms)));
  if (SharePct(timeline, ms) < kMinSharePct) return WhyUnsure(timeline, found);
  if (const auto why_not = WhyDevicesUnknown(timeline)) return {*why_not};  // it may be busy meanwhile
  const auto text = [&](std::string_view thread) {
    return [=](const CallSites::Site& site) {
      return fmt::format("copies a batch on {}, {}, {}", thread, TimesPerStep(static_cast<double>(site.count) / steps),
                         MsText(MsPerDetailStep(timeline, site.ms)));
    };
  };
  finding.evidence = found.training.Describe(text("the training thread"));
  if (exposed_loading > 0) {
    for (Evidence& one : found.loading.Describe(text("a loader thread"))) finding.evidence.push_back(std::move(one));
  }
  return {finding};
}

}  // namespace

extern const Analyzer kNeedlessCopy{
    .id = "needless-copy", .question = "Is the whole batch copied on the CPU without need?", .run = Run};

}  // namespace loopscope
