#include "analyzers/shared/layer_types.h"

#include <fmt/format.h>

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

}  // namespace loopscope
