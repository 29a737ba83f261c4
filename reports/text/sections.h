// The sections of the text report, in the order of the page.
#pragma once

#include "profiler/core/report/report.h"
#include "reports/text/page.h"

namespace loopscope {

void WriteComparison(const Comparison& comparison, Page& page);  // alone, where a report compares
void WriteGate(const Report& report, Page& page);                // alone, where a report is a gate's
void WriteSweep(const Report& report, Page& page);               // alone, where a report is a sweep's
void WriteHeadline(const Report& report, Page& page);
void WriteSteps(const Report& report, Page& page);        // the step and what it is made of
void WriteGpu(const Report& report, Page& page);          // what the devices did; nothing without one
void WriteCollectives(const Report& report, Page& page);  // by process group; nothing where none were recorded
void WriteRanks(const Report& report, Page& page);        // what each rank did; nothing for one rank
void WriteFindings(const Report& report, Page& page);     // what slows the loop, the costliest with advice
void WriteTrials(const Report& report, Page& page);       // what each fix brought; nothing when none was tried
void WriteTarget(const Report& report, Page& page);       // who reached it when; nothing without a target
void WriteTrust(const Report& report, Page& page);        // quality, warnings, rules that cannot tell
void WriteNext(const Report& report, Page& page);         // the command to run next

void WriteLines(const Report& report, Page& page);  // the costliest lines of a step, and of a loader's workers
void WriteWhole(const Report& report, Page& page);  // what the run was spent on; nothing where that is unknown

}  // namespace loopscope
