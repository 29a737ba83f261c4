#include "profiler/experiments/applied.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace loopscope
