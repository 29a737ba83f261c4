// The sections of the text report, in the order in which they stand.
#pragma once

#include "profiler/core/report.h"
#include "reports/text_page.h"

namespace loopscope {

void WriteHeadline(const Report& report, Page& page);
void WriteSteps(const Report& report, Page& page);     // the step and what it is made of
void WriteFindings(const Report& report, Page& page);  // what slows the loop, the costliest with advice
void WriteTrials(const Report& report, Page& page);    // what each fix brought; nothing when none was tried
void WriteTrust(const Report& report, Page& page);     // quality, warnings, rules that cannot tell
void WriteNext(const Report& report, Page& page);      // the command to run next

// "loader.workers=2", or only the key when no value is known.
std::string TreatmentText(std::string_view key, std::string_view value);

}  // namespace loopscope
