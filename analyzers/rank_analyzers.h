// All rules over ranks, in the order of ranks/ranks.def, and what they say of a run.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "profiler/core/rank_analyzer.h"
#include "profiler/core/report.h"

namespace loopscope {

std::span<const RankAnalyzer* const> AllRankAnalyzers();

// Null when there is none of that id.
const RankAnalyzer* FindRankAnalyzer(std::string_view id);

// Adds their verdicts and findings to the report of one of the ranks. `treatment_of` as in Diagnose().
void DiagnoseRanks(std::span<const RankSummary> ranks,
                   const std::function<std::string(std::string_view rule)>& treatment_of, Report& report);

}  // namespace loopscope
