#include <fmt/format.h>

#include <algorithm>

#include "analyzers/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;        // of the step's work
constexpr double kMinShareOfBatch = 0.5;  // of the batch's bytes: labels and single samples are no batch

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
  return ops::IsConvolution(name) || ops::IsMatmul(name) || name == "aten::embedding";
}

// Copies between the loader's start and the forward pass, as candidates: the batch's size is known only afterwards.
struct Copy {
  EventRef outermost;
  std::int64_t bytes = 0;
};

class StepCopies {
 public:
  StepCopies(const Timeline& timeline) : timeline_(timeline), copies_(timeline.trace(), IsCopyOrTo) {}

  // A copy that changes neither type nor device nor layout, and that no other operator (stack, cat, contiguous,
  // pin_memory, a convolution) makes for its own sake.
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
    return Copy{outermost, to.bytes()};
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
  NameSet copies_;
};

struct Batch {
  std::int64_t bytes = 0;
  std::int64_t samples = 0;  // the first dimension
};

struct Found {
  CallSites training, loading;  // on the training thread, on loader threads; over the detail steps
  bool batch_known = false;
};

// Copies of batch size on another thread of the same process: they cost only what the loop then waits for.
void AddLoaderThreads(const Timeline& timeline, const StepCopies& copies, const Step& step, Batch batch, Found& found) {
  for (std::uint32_t thread = 0; thread < timeline.trace().threads.size(); ++thread) {
    if (thread == timeline.training_thread()) continue;
    timeline.ForEach(thread, step.time, [&](EventRef ref) {
      const std::optional<Copy> copy = copies.Needless(ref);
      if (!copy || static_cast<double>(copy->bytes) < kMinShareOfBatch * static_cast<double>(batch.bytes)) return;
      found.loading.Add(timeline.where(copy->outermost), Ms(timeline.event(copy->outermost).duration_ns()));
    });
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
        if (activation && !activation->sizes.empty()) batch = {activation->bytes(), activation->sizes[0]};
      }
      return;
    }
    if (!loading) return;
    if (const std::optional<Copy> copy = copies.Needless(ref)) candidates.push_back(*copy);
  });
  if (batch.bytes == 0) return;
  found.batch_known = true;
  // With one sample per batch, a copy out of a reused buffer looks the same and is needed.
  if (batch.samples <= 1) return;
  for (const Copy& copy : candidates) {
    if (static_cast<double>(copy.bytes) < kMinShareOfBatch * static_cast<double>(batch.bytes)) continue;
    found.training.Add(timeline.where(copy.outermost), Ms(timeline.event(copy.outermost).duration_ns()));
  }
  AddLoaderThreads(timeline, copies, step, batch, found);
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell("no timed step lies in the detail window, so the sizes of copies are not known")};
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
  const double exposed_loading = std::min(found.loading.ms() / steps, timeline.part_ms(Part::kLoaderWait));
  const double ms = found.training.ms() / steps + exposed_loading;
  Finding finding =
      Costing(timeline, ms, fmt::format("the whole batch is copied on the CPU before use: {} per step", MsText(ms)));
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  const auto text = [&](std::string_view thread) {
    return [=](const CallSites::Site& site) {
      return fmt::format("copies a batch on {}, {:.2g} times per step, {}", thread,
                         static_cast<double>(site.count) / steps, MsText(site.ms / steps));
    };
  };
  finding.evidence = found.training.Describe(text("the training thread"));
  if (exposed_loading > 0) {
    for (Evidence& one : found.loading.Describe(text("a loader thread"))) finding.evidence.push_back(std::move(one));
  }
  return {finding};
}

}  // namespace

extern const Analyzer kNeedlessCopy;
const Analyzer kNeedlessCopy{
    .id = "needless-copy", .question = "Is the whole batch copied on the CPU without need?", .run = Run};

}  // namespace loopscope
