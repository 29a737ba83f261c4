// From a trace to the report of what slows it.
#pragma once

#include <memory>
#include <string>

#include "profiler/core/report/report.h"

namespace loopscope {

// Runs the rules; with too little in the trace they say so themselves.
Report DiagnosisOf(Trace trace);
Report DiagnosisOf(std::shared_ptr<const Timeline> timeline);

// The id of the treatment to try for a finding: the one it names already, else the first that cures its rule and has a
// value to try on the machine of `run`, and which something in the program can apply (CanApply, by its facts and
// knobs);
// "" when none has. Where the machine is unknown (a capture without its run.json,
// another tool's recording), every treatment counts as one that has.
std::string TreatmentOf(const Finding& finding, const RunInfo& run, const FactMap& facts = {}, const Knobs& knobs = {});

// Steps from the start until step times settle (series.h), those at epoch boundaries left out; never under `least`.
int WarmupOf(const Timeline& timeline, int least);

}  // namespace loopscope
