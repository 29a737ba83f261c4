#include "analyzers/shared/activations.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

bool IsRelu(std::string_view name) {
  return name == "aten::relu" || name == "aten::clamp_min";
}

// Their first input is a bias, or a table of weights.
bool KeepsSecondInput(std::string_view name) {
  return name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::embedding";
}

class Estimate {
 public:
  explicit Estimate(const Timeline& timeline)
      : timeline_(timeline),
        nodes_(timeline.trace(), ops::IsBackwardNode),
        views_(timeline.trace(), ops::IsView),
        relus_(timeline.trace(), IsRelu),
        second_(timeline.trace(), KeepsSecondInput) {}

  Activations Take() {
    Activations found;
    found.known = timeline_.detail_steps() > 0;
    std::vector<EventRef> kept;
    std::set<std::pair<std::uint32_t, std::uint32_t>> outer;
    std::uint64_t passes = 0;
    timeline_.ForEachDetailed([&](EventRef ref) {
      passes += timeline_.event(ref).is_range(RangeCategory::kBackward) ? 1 : 0;
      if (!Records(timeline_.event(ref)) || timeline_.inside(ref, RangeCategory::kBackward)) return;
      const EventRef above = Ancestor(timeline_, ref, [&](const Event& up) { return Records(up); });
      if (Exists(above)) outer.insert({above.thread, above.index});
      kept.push_back(ref);
    });
    for (const EventRef ref : kept) {
      if (!outer.contains({ref.thread, ref.index})) Add(ref, found);
    }
    const auto count = static_cast<double>(std::max<std::uint64_t>(1, passes));
    found.bytes /= count;
    found.relu_bytes /= count;
    return found;
  }

 private:
  bool Records(const Event& event) const {
    return event.kind == EventKind::kOp && (event.flags & wire::kOpGraph) != 0 && !nodes_.Has(event) &&
           !views_.Has(event);
  }

  void Add(EventRef ref, Activations& found) const {
    const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(ref));
    const std::size_t at = second_.Has(timeline_.event(ref)) ? 1 : 0;
    if (inputs.size() <= at || !inputs[at].is_tensor) return;
    const auto bytes = static_cast<double>(inputs[at].bytes());
    found.bytes += bytes;
    if (!relus_.Has(timeline_.event(ref))) return;
    found.relu_bytes += bytes;
    found.relus.Add(timeline_.where(ref), bytes, ModuleOf(timeline_, ref));
  }

  const Timeline& timeline_;
  NameSet nodes_, views_, relus_, second_;
};

}  // namespace

Activations EstimateActivations(const Timeline& timeline) {
  return Estimate(timeline).Take();
}

}  // namespace loopscope
