#include "analyzers/shared/events.h"

#include <algorithm>

namespace loopscope {
namespace {

constexpr double kMinPartShare = 0.1;  // of these steps: smaller parts are mostly noise

// An undisturbed step's time (in `part`) relative to these steps'; 0 if they have none of the part.
double Ratio(const Timeline& timeline, std::optional<Part> part, bool detailed) {
  std::int64_t sum_ns = 0, steps = 0;
  for (const std::uint32_t index : timeline.steady()) {
    const Step& step = timeline.steps()[index];
    if (detailed && !step.detail) continue;
    sum_ns += part ? step.parts_ns[static_cast<std::size_t>(*part)] : step.time.length();
    ++steps;
  }
  if (sum_ns <= 0) return 0;
  const double undisturbed_ms = part ? timeline.part_ms(*part) : timeline.mean_step_ms();
  return undisturbed_ms * static_cast<double>(steps) / Ms(sum_ns);
}

// Converts training-thread ms in these steps to ms in an undisturbed one. A factor above 1 is accepted only as far as
// all passes and updates are longer (a busier machine), not if only other work makes the mean step longer.
double Undisturbed(const Timeline& timeline, std::optional<Part> part, bool detailed) {
  if (!timeline.devices().empty()) return 1;
  const double ratio = Ratio(timeline, part, detailed);
  if (ratio <= 0) return 1;
  if (ratio <= 1) return ratio;
  double busier = ratio;
  for (const Part one : {Part::kForward, Part::kBackward, Part::kOptimizer}) {
    const double of_part = Ratio(timeline, one, detailed);
    if (of_part <= 0 || timeline.part_ms(one) / of_part < kMinPartShare * timeline.mean_step_ms() / ratio) continue;
    busier = std::min(busier, of_part);
  }
  return std::max(1.0, busier);
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
  return total_ms / static_cast<double>(timeline.steady().size()) * Undisturbed(timeline, part, /*detailed=*/false);
}

double MsPerDetailStep(const Timeline& timeline, double total_ms, std::optional<Part> part) {
  return total_ms / timeline.detail_steps() * Undisturbed(timeline, part, /*detailed=*/true);
}

double DetailRatio(const Timeline& timeline) {
  return timeline.detail_steps() > 0 ? Undisturbed(timeline, std::nullopt, /*detailed=*/true) : 1;
}

bool Disturbed(const Timeline& timeline, std::int64_t time_ns) {
  const int step = timeline.step_at(time_ns);
  return step >= 0 && timeline.steps()[static_cast<std::size_t>(step)].disturbed();
}

std::vector<Interval> Undisturbed(const Timeline& timeline, std::span<const Interval> stretches) {
  std::vector<Interval> kept(stretches.begin(), stretches.end());
  std::erase_if(kept, [&](const Interval& one) { return Disturbed(timeline, one.start_ns); });
  return kept.empty() ? std::vector<Interval>(stretches.begin(), stretches.end()) : kept;
}

bool HasAncestor(const Timeline& timeline, EventRef ref, const std::function<bool(const Event&)>& accepts) {
  return Exists(Ancestor(timeline, ref, accepts));
}

std::vector<TensorText> TensorsOf(std::string_view inputs) {
  std::vector<TensorText> tensors;
  for (const TensorText& input : ParseInputs(inputs)) {
    if (input.is_tensor) tensors.push_back(input);
    const std::vector<TensorText> list = ParseTensorList(input.scalar);
    tensors.insert(tensors.end(), list.begin(), list.end());
  }
  return tensors;
}

}  // namespace loopscope
