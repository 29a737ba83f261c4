#include "analyzers/shared/convolutions.h"

#include <algorithm>
#include <set>
#include <string>

#include "analyzers/shared/devices.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

class Collector {
 public:
  explicit Collector(const Timeline& timeline)
      : timeline_(timeline), names_(timeline.trace(), ops::IsConvolution), cost_(timeline) {}

  Convolutions Collect() {
    std::uint32_t steady = 0;
    for (std::uint32_t i = 0; i < timeline_.steps().size(); ++i) {
      const auto indices = timeline_.steady();
      const bool counts = steady < indices.size() && indices[steady] == i;
      Visit(timeline_.steps()[i], counts, steady);
      steady += counts;
    }
    found_.shapes = steady_shapes_.size();
    return std::move(found_);
  }

 private:
  void Visit(const Step& step, bool counts, std::uint32_t steady) {
    std::set<std::uint32_t> here;
    bool any_new = false;
    for (const std::uint32_t thread : timeline_.step_threads()) {
      timeline_.ForEach(thread, step.time, [&](EventRef ref) {
        if (!names_.Has(timeline_.event(ref)) || Inner(ref)) return;
        const std::uint32_t shape = timeline_.event(ref).shape_hash;
        if (shape != 0) here.insert(shape);
        if (!counts) return;
        const bool fresh = shape != 0 && !seen_.contains(shape);
        any_new |= fresh;
        found_.calls.push_back({ref, cost_.Ms(ref), fresh, steady});
      });
    }
    seen_.insert(here.begin(), here.end());
    found_.shapes_known |= !here.empty();
    if (!counts) return;
    found_.steps_with_new += any_new;
    found_.shapes_of_one_step = std::max(found_.shapes_of_one_step, here.size());
    steady_shapes_.insert(here.begin(), here.end());
  }

  bool Inner(EventRef ref) const {
    return HasAncestor(timeline_, ref, [&](const Event& up) { return names_.Has(up); });
  }

  const Timeline& timeline_;
  NameSet names_;
  OpCost cost_;
  Convolutions found_;
  std::set<std::uint32_t> seen_, steady_shapes_;
};

}  // namespace

double Convolutions::ms() const {
  double total = 0;
  for (const Convolution& call : calls) total += call.ms;
  return total;
}

CallSites Convolutions::Sites(const Timeline& timeline) const {
  CallSites sites;
  for (const Convolution& call : calls) sites.Add(timeline.where(call.op), call.ms, ModuleOf(timeline, call.op));
  return sites;
}

Convolutions ConvolutionsOf(const Timeline& timeline) {
  return Collector(timeline).Collect();
}

}  // namespace loopscope
