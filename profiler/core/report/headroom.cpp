#include "profiler/core/report/headroom.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/core/graph/operator_cost.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr std::string_view kProduct = "peak.product.", kCopy = "peak.copy.";

// What was measured when the run ended, in 10^9 per second.
std::map<std::string, double> PeaksOf(const Trace& trace) {
  std::map<std::string, double> peaks;
  for (const auto& [key, text] : trace.facts) {
    if (!key.starts_with(kProduct) && !key.starts_with(kCopy)) continue;
    double millions = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, millions);
    if (error == std::errc() && rest == end && millions > 0) peaks[key] = millions / 1e3;
  }
  return peaks;
}

// Peaks of one kind by size: what is reached at a size is what was measured at the next larger one, or at the largest.
class BySize {
 public:
  BySize(const std::map<std::string, double>& peaks, const std::string& prefix) {
    for (auto peak = peaks.lower_bound(prefix); peak != peaks.end() && peak->first.starts_with(prefix); ++peak) {
      double size = 0;
      const std::string_view text = std::string_view(peak->first).substr(prefix.size());
      if (std::from_chars(text.data(), text.data() + text.size(), size).ec == std::errc()) sizes_[size] = peak->second;
    }
  }
  bool known() const { return !sizes_.empty(); }
  // In 10^9 per second.
  double At(double size) const {
    const auto found = sizes_.lower_bound(size);
    return found != sizes_.end() ? found->second : sizes_.rbegin()->second;
  }
  double largest() const {
    double most = 0;
    for (const auto& [size, peak] : sizes_) most = std::max(most, peak);
    return most;
  }

 private:
  std::map<double, double> sizes_;
};

// Of a time in a step of the detail window, what it takes in an undisturbed one.
double UndisturbedShare(const Timeline& timeline) {
  double detailed_ns = 0;
  int steps = 0;
  for (const std::uint32_t index : timeline.steady()) {
    if (!timeline.steps()[index].detail) continue;
    detailed_ns += static_cast<double>(timeline.steps()[index].time.length());
    ++steps;
  }
  return steps > 0 ? std::min(1.0, timeline.mean_step_ms() * 1e6 * steps / detailed_ns) : 1;
}

class Summing {
 public:
  Summing(const Timeline& timeline, std::map<std::string, double> peaks)
      : timeline_(timeline),
        peaks_(std::move(peaks)),
        copies_(peaks_, std::string(kCopy)),
        undisturbed_(UndisturbedShare(timeline)) {}

  std::optional<Headroom> Run() {
    if (!copies_.known() || timeline_.detail_steps() == 0) return std::nullopt;
    timeline_.ForEachDetailed([&](EventRef ref) {
      if (timeline_.outermost_op(ref)) AddTree(ref);
    });
    if (operators_ms_ <= 0) return std::nullopt;
    const double steps = timeline_.detail_steps();
    Headroom headroom;
    headroom.step_ms = timeline_.mean_step_ms();
    headroom.floor_ms = floor_ms_ / steps;
    headroom.operators_ms = operators_ms_ / steps;
    headroom.unknown_ms = unknown_ms_ / steps;
    headroom.mfu_pct = 100 * at_peak_ms_ / steps / headroom.step_ms;
    for (const auto& [key, peak] : peaks_) headroom.peaks.push_back({key.substr(key.find('.') + 1), peak});
    for (auto& [key, line] : lines_) {
      line.ms /= steps;
      if (line.floor_ms) *line.floor_ms /= steps;
      headroom.lines.push_back(std::move(line));
    }
    std::ranges::stable_sort(headroom.lines, std::ranges::greater{}, &HeadroomLine::above_ms);
    return headroom;
  }

 private:
  // An operator with a formula stands for all that it calls; of others, those that it calls are looked at.
  void AddTree(EventRef ref) {
    if (const std::string_view inputs = timeline_.inputs(ref); !inputs.empty()) {
      if (const auto cost = CostOf(timeline_.name(ref), ParseInputs(inputs))) return Add(ref, *cost);
    }
    bool calls = false;
    const std::vector<Event>& events = timeline_.trace().threads[ref.thread].events;
    const Event& own = timeline_.event(ref);
    for (std::uint32_t i = ref.index + 1; i < events.size() && events[i].start_ns < own.end_ns; ++i) {
      if (timeline_.parent({ref.thread, i}) != ref.index || events[i].kind != EventKind::kOp) continue;
      calls = true;
      AddTree({ref.thread, i});
    }
    if (!calls) AddUnknown(ref);
  }

  void AddUnknown(EventRef ref) {
    const double ms = undisturbed_ * static_cast<double>(timeline_.event(ref).duration_ns()) / 1e6;
    unknown_ms_ += ms;
    LineOf(ref, false).ms += ms;
  }

  const BySize& ProductsIn(std::string_view dtype) {
    const std::string prefix = std::string(kProduct) + std::string(dtype) + ".";
    return products_.try_emplace(prefix, peaks_, prefix).first->second;
  }

  void Add(EventRef ref, const OperatorCost& cost) {
    const double ms = undisturbed_ * static_cast<double>(timeline_.event(ref).duration_ns()) / 1e6;
    double floor_ms = cost.bytes / copies_.At(cost.bytes / 2) / 1e6;
    if (cost.product) {
      const BySize& products = ProductsIn(cost.dtype);
      if (!products.known()) return AddUnknown(ref);
      // As large as a product of square matrices with as many FLOPs.
      floor_ms = std::max(floor_ms, cost.flops / products.At(std::cbrt(cost.flops / 2)) / 1e6);
      at_peak_ms_ += cost.flops / products.largest() / 1e6;
    }
    floor_ms = std::min(floor_ms, ms);
    operators_ms_ += ms;
    floor_ms_ += floor_ms;
    HeadroomLine& line = LineOf(ref, true);
    line.ms += ms;
    *line.floor_ms += floor_ms;
  }

  // The forward operator whose backward pass calls this one; {kNone, kNone} where none does.
  EventRef MadeBy(EventRef ref) const {
    EventRef made_by{kNone, kNone};
    for (std::uint32_t at = ref.index; at != kNone; at = timeline_.parent({ref.thread, at})) {
      const EventRef here{ref.thread, at};
      if (made_by.thread == kNone) made_by = timeline_.producer(timeline_.event(here).sequence);
      if (ops::IsBackwardNode(timeline_.name(here))) return made_by;
    }
    return {kNone, kNone};
  }

  // The operator that the program called.
  EventRef Outermost(EventRef ref) const {
    EventRef outermost = ref;
    for (std::uint32_t up = timeline_.parent(ref); up != kNone; up = timeline_.parent({ref.thread, up})) {
      const EventRef above{ref.thread, up};
      if (timeline_.event(above).kind == EventKind::kOp && !ops::IsBackwardNode(timeline_.name(above)))
        outermost = above;
    }
    return outermost;
  }

  // The place and the name of the forward call.
  HeadroomLine& LineOf(EventRef ref, bool known) {
    const EventRef made_by = MadeBy(ref);
    const EventRef of = Outermost(made_by.thread != kNone ? made_by : ref);
    const Where* where = timeline_.where(of);
    // What has no formula is named by itself.
    const std::string what(ops::Shown(timeline_.name(known ? of : ref)));
    const auto [line, added] = lines_.try_emplace({where != nullptr ? *where : Where{}, what, known});
    if (added) {
      line->second.where = where != nullptr ? std::optional(*where) : std::nullopt;
      line->second.what = what;
      if (known) line->second.floor_ms = 0;
    }
    return line->second;
  }

  const Timeline& timeline_;
  const std::map<std::string, double> peaks_;
  const BySize copies_;
  const double undisturbed_;
  std::map<std::string, BySize> products_;
  std::map<std::tuple<Where, std::string, bool>, HeadroomLine> lines_;  // by place, operator, whether it has a formula
  double floor_ms_ = 0, operators_ms_ = 0, unknown_ms_ = 0, at_peak_ms_ = 0;
};

}  // namespace

std::optional<Headroom> HeadroomOf(const Timeline& timeline) {
  if (!timeline.devices().empty()) return std::nullopt;
  return Summing(timeline, PeaksOf(timeline.trace())).Run();
}

}  // namespace loopscope
