// All rules over ranks, in the order of ranks/ranks.def, and what they report about a run.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzers/diagnose/diagnose.h"
#include "profiler/core/rank_analyzer.h"
#include "profiler/core/report/report.h"

namespace loopscope {

std::span<const RankAnalyzer* const> AllRankAnalyzers();

// Adds their verdicts and findings to the report of one of the ranks.
void DiagnoseRanks(std::span<const RankSummary> ranks, const TreatmentChoice& treatment_of, Report& report);

}  // namespace loopscope
