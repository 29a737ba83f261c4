// What a finding costs and what its fix may bring, in words (see wording.h).
#pragma once

#include <string>
#include <string_view>

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

}  // namespace loopscope
