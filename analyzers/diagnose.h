// Runs the rules over a timeline.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/analyzer.h"
#include "profiler/core/report.h"

namespace loopscope {

// One rule's findings, or one kCannotTell where the trace as a whole cannot carry a statement: fewer than three steady
// steps, or more than 1 % of the records dropped. Fills in rule, id and advice.
std::vector<Finding> Judge(const Analyzer& analyzer, const Timeline& timeline);

// All rules: report.rules in the order of analyzers.def, report.findings by severity, then cost. `treatment_of` names
// the treatment that cures a rule, or "". Costs never exceed the mean step.
void Diagnose(const Timeline& timeline, const std::function<std::string(std::string_view rule)>& treatment_of,
              Report& report);

}  // namespace loopscope
