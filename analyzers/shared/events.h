// Queries on a timeline's events: their names, their ancestors, their times, the tensors that they were called with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "profiler/core/timeline/timeline.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {

// The names of a trace that a predicate of op_names.h accepts, so that events are tested by their string id.
class NameSet {
 public:
  NameSet(const Trace& trace, bool (*accepts)(std::string_view));
  // Ops only: a range may carry any text.
  bool Has(const Event& event) const {
    return event.kind == EventKind::kOp && event.name < accepted_.size() && accepted_[event.name];
  }

 private:
  std::vector<bool> accepted_;
};

// The nearest ancestor that `accepts`; {kNone, kNone} when there is none.
EventRef Ancestor(const Timeline& timeline, EventRef ref, const std::function<bool(const Event&)>& accepts);
bool HasAncestor(const Timeline& timeline, EventRef ref, const std::function<bool(const Event&)>& accepts);
inline bool Exists(EventRef ref) {
  return ref.index != kNone;
}

inline double Ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// A count over all steady steps, per step. There is at least one: Judge() ensures it. Not for times.
inline double CountPerStep(const Timeline& timeline, double count) {
  return count / static_cast<double>(timeline.steady().size());
}

// Milliseconds over all steady steps, by step; MsPerDetailStep: over those of the detail window. Recording details
// slows the host, most of all where it calls many operators. So the time is scaled to what undisturbed steps spend
// on that part (or, without `part`, on the whole step), which it then never exceeds. With a device it is not
// scaled.
double MsPerStep(const Timeline& timeline, double total_ms, std::optional<Part> part = std::nullopt);
double MsPerDetailStep(const Timeline& timeline, double total_ms, std::optional<Part> part = std::nullopt);

// Converts ms in a step of the detail window to ms in an undisturbed one; 1 if there is no such step.
double DetailRatio(const Timeline& timeline);

// Whether recording details or following calls slowed down the step in which this lies.
bool Disturbed(const Timeline& timeline, std::int64_t time_ns);

// The stretches outside of plain steps (evaluations, starts of epochs) that nothing slowed down; all if each
// was.
std::vector<Interval> Undisturbed(const Timeline& timeline, std::span<const Interval> stretches);

// The tensors that an operator was called with.
using Shapes = std::set<std::vector<std::int64_t>>;

// Including those in lists; a truncated list has none.
std::vector<TensorText> TensorsOf(std::string_view inputs);

}  // namespace loopscope
