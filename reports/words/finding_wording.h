// What a finding costs and what its fix may bring or brought, in words (see wording.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

// Before a worth: "up to " for a bound, "about " where a gain is expected from a measurement, nothing where it is
// exact.
std::string_view WorthWord(const Finding& finding);
// "about 4 %": of the mean step.
std::string WorthShareText(const Report& report, const Finding& finding);
std::string_view CostKindText(const Finding& finding);  // "up to", "measured", "exactly", "at least"

// "up to 12.3 ms per step, 21 %; 15 % of the run"; empty without a cost.
std::string CostText(const Report& report, const Finding& finding);
std::string ShareOfRunText(const Report& report, const Finding& finding);  // "15 % of the run"; empty where unknown
// "expected gain 3.2 ms per step, 11 %"; empty where none is known.
std::string GainExpectedText(const Report& report, const Finding& finding);

// "measured: loader.workers=2 0.67x, do not. Otherwise: …" where a trial of the fix brought nothing; else the advice.
std::string AdviceText(const Report& report, const Finding& finding);

// The trials of a report, each fix once: one may have been tried alone and with others.
struct TrialEntry {
  std::size_t shown = 0;  // of report.trials: with the other fixes where that was measured, else alone
  std::string other;      // what the other measurement brought: "alone 1.08x [1.02, 1.14]"; empty without one
};
std::vector<TrialEntry> TrialEntries(const Report& report);
std::string AlsoText(const TrialEntry& entry);  // "; alone 1.08x [1.02, 1.14]", behind the verdict

// The most valuable changes, for the top of a report.

// At most three lines, the largest first; each names its place where that is known. Printable.
std::vector<std::string> LargestGains(const Report& report);       // of single fixes that were measured to help
std::vector<std::string> CostliestFindings(const Report& report);  // after the one that leads the report

}  // namespace loopscope
