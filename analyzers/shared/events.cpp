#include "analyzers/shared/events.h"

#include <algorithm>

namespace loopscope {
namespace {

// What a millisecond of the training thread's in these steps is in an undisturbed one: no more, since steps that hold
// other work make the mean longer, not what is recorded in these.
double Undisturbed(const Timeline& timeline, std::optional<Part> part, bool detailed) {
  if (!timeline.devices().empty()) return 1;
  std::int64_t sum_ns = 0, steps = 0;
  for (const std::uint32_t index : timeline.steady()) {
    const Step& step = timeline.steps()[index];
    if (detailed && !step.detail) continue;
    sum_ns += part ? step.parts_ns[static_cast<std::size_t>(*part)] : step.time.length();
    ++steps;
  }
  if (sum_ns <= 0) return 1;
  const double undisturbed_ms = part ? timeline.part_ms(*part) : timeline.mean_step_ms();
  return std::min(1.0, undisturbed_ms * static_cast<double>(steps) / Ms(sum_ns));
}

}  // namespace

NameSet::NameSet(const Trace& trace, bool (*accepts)(std::string_view)) : accepted_(trace.strings.size()) {
  for (std::size_t i = 0; i < trace.strings.size(); ++i) accepted_[i] = accepts(trace.strings[i]);
}

EventRef Ancestor(const Timeline& timeline, EventRef ref, const std::function<bool(const Event&)>& accepts) {
  for (std::uint32_t up = timeline.parent(ref); up != kNone; up = timeline.parent({ref.thread, up})) {
    if (accepts(timeline.event({ref.thread, up}))) return {ref.thread, up};
  }
  return {kNone, kNone};
}

double MsPerStep(const Timeline& timeline, double total_ms, std::optional<Part> part) {
  return PerStep(timeline, total_ms) * Undisturbed(timeline, part, /*detailed=*/false);
}

double MsPerDetailStep(const Timeline& timeline, double total_ms, std::optional<Part> part) {
  return total_ms / timeline.detail_steps() * Undisturbed(timeline, part, /*detailed=*/true);
}

bool HasAncestor(const Timeline& timeline, EventRef ref, const std::function<bool(const Event&)>& accepts) {
  return Exists(Ancestor(timeline, ref, accepts));
}

}  // namespace loopscope
