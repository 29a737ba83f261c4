// Runs the rules over a timeline.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/analyzer.h"
#include "profiler/core/report/report.h"

namespace loopscope {

// One rule's findings, or one kCannotTell where the trace as a whole cannot carry a statement: fewer than three steady
// steps, or more than 1 % of the records dropped. Fills in rule, id and advice.
std::vector<Finding> Judge(const Analyzer& analyzer, const Timeline& timeline);

// Names the treatment to try for a finding, or "". What the analyzer chose itself stands in the finding already.
using TreatmentChoice = std::function<std::string(const Finding&)>;

// All rules: report.rules in the order of analyzers.def, report.findings by severity, then cost. Costs never exceed the
// mean step.
void Diagnose(const Timeline& timeline, const TreatmentChoice& treatment_of, Report& report);

}  // namespace loopscope
