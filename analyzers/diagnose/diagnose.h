// Runs the rules over a timeline, and leads their findings to lines that the user can change.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/analyzer.h"
#include "profiler/core/report/report.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// One rule's findings, or one kCannotTell when the trace as a whole does not support a verdict: fewer than three steady
// steps, or more than 1 % of the records dropped. Fills in rule, id and advice.
std::vector<Finding> Judge(const Analyzer& analyzer, const Timeline& timeline);

// Adds what all of a rule's findings share: its id, the times they claim, the usual gain of their fixes.
void AddRule(const Analyzer& analyzer, Finding& finding);

// Names the treatment to try for a finding, or "". The analyzer's own choice is already in the finding.
using TreatmentChoice = std::function<std::string(const Finding&)>;

// All rules: report.rules in the order of analyzers.def, report.findings by what is gained (expected_gain.h). Costs
// never exceed the mean step.
void Diagnose(const Timeline& timeline, const TreatmentChoice& treatment_of, Report& report);

// Lines of a package beside the program, and the program's own lines that lead to them: users do not edit packages, but
// change parameters in their own calls.

// The innermost line outside of `where`'s package that leads to it, inside the working directory; absent where `where`
// is in no package, or called from nowhere else.
std::optional<Where> CalledAt(const Trace& trace, const Where& where);

}  // namespace loopscope
