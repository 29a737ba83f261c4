#include "analyzers/shared/layer_types.h"

#include "analyzers/shared/devices.h"
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
    const bool forward = !HasAncestor(timeline, top, [&](const Event& up) { return nodes.Has(up); });
    const Where* where = timeline.where(top);
    if (forward && where) measured.sites.Add(where, cost.Ms(top), ModuleOf(timeline, top));
  });
  measured.share = measured.detailed_ms > 0 ? ms / measured.detailed_ms : 0;
  return measured;
}

}  // namespace loopscope
