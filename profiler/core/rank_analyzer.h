// The seam for rules over ranks: one rule is one file in analyzers/ranks/ that ends in one such constant, one line in
// ranks.def, and the text of the rule beside it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/report/rank_summary.h"

namespace loopscope {

struct RankAnalyzer {
  std::string_view id;        // "straggler"
  std::string_view question;  // "Do the ranks wait for the same one again and again?"
  // Takes the ranks of one run, by number. Findings as in Analyzer; their cost is a bound on what all ranks gain.
  std::vector<Finding> (*run)(std::span<const RankSummary>);
};

}  // namespace loopscope
