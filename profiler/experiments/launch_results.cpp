#include "profiler/experiments/launch_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/wire.h"

namespace loopscope {

std::vector<Applied> AppliedUnder(std::string_view key, std::span<const Applied> applied) {
  std::vector<Applied> under;
  std::ranges::copy_if(applied, std::back_inserter(under), [&](const Applied& one) { return one.key == key; });
  return under;
}

std::string WhyNotApplied(std::string_view key, std::span<const Applied> applied) {
  std::string why = "nothing in the program applies it";
  for (const Applied& one : applied) {
    if (one.key != key) continue;
    if (one.flags & (wire::kAppliedNotApplicable | wire::kAppliedFailed)) {
      why = one.new_value.empty() ? "it does not apply here" : one.new_value;
    } else if (one.flags & wire::kAppliedLost) {
      why = fmt::format("the program sets it back to {}", one.new_value);
    } else if (one.old_value == one.new_value) {
      why = fmt::format("it is {} already", one.new_value);
    } else {
      return "";
    }
  }
  return why;
}

bool FailedToApply(std::string_view key, std::span<const Applied> applied) {
  return std::ranges::any_of(
      applied, [&](const Applied& one) { return one.key == key && (one.flags & wire::kAppliedFailed) != 0; });
}

Taken TakenUp(std::string_view key, std::string_view value, std::span<const Applied> applied, std::string& why) {
  why = WhyNotApplied(key, applied);
  if (why.empty()) return Taken::kChanged;
  for (const Applied& one : applied) {
    if (one.key != key) continue;
    // A setting that does not apply reports the requested value with its reason if the program has that value.
    const bool says_so = (one.flags & wire::kAppliedNotApplicable) != 0 && one.old_value == value;
    if (says_so || (one.flags == 0 && one.old_value == one.new_value)) return Taken::kHadIt;
  }
  return Taken::kNot;
}

namespace {

// "optimizer#1" of "optimizer:SGD#1": a treatment or the other command may use another optimizer class.
std::string ClockWithoutClass(const std::string& clock) {
  const std::size_t colon = clock.find(':'), number = clock.rfind('#');
  if (!clock.starts_with("optimizer:") || number == clock.npos) return clock;
  return clock.substr(0, colon) + clock.substr(number);
}

}  // namespace

std::string UnequalWork(const LaunchResult& reference, const LaunchResult& result, SameWork same) {
  if (ClockWithoutClass(result.clock) != ClockWithoutClass(reference.clock)) {
    return fmt::format("its steps end with {} instead of {}", result.clock, reference.clock);
  }
  if (same.step_metric == Metric::kSampleTime)
    return result.ms_per_sample > 0 ? "" : "its samples per step are unknown";
  if (same.epochs && result.steps != reference.steps) {
    return fmt::format("{} plain steps in the window instead of {}", result.steps, reference.steps);
  }
  if (result.ms_per_sample <= 0 || reference.ms_per_sample <= 0) return "";
  const double samples = result.ms_per_step / result.ms_per_sample;
  const double usual = reference.ms_per_step / reference.ms_per_sample;
  if (std::abs(samples / usual - 1) < 1e-3) return "";
  return fmt::format("{:.1f} samples per step instead of {:.1f}", samples, usual);
}

LaunchResult HeldTo(const LaunchResult& reference, LaunchResult result, SameWork same) {
  if (!result.ok()) return result;
  if (const std::string why = UnequalWork(reference, result, same); !why.empty()) {
    result.status = {LaunchEnd::kNotComparable, why};
    result.tail.clear();
  }
  return result;
}

}  // namespace loopscope
