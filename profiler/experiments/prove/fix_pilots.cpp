#include "profiler/experiments/prove/fix_pilots.h"

#include <vector>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {

double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots, int pairs) {
  const double budget_s = input.options.budget_s;
  if (!input.options.until_decided || !pilots.all.ok()) return budget_s;
  std::vector<Arm> arms(2);
  Estimate(arms[0], pilots.baseline);
  Estimate(arms[1], pilots.all);
  (void)pilots.run.FinalWindowOf(arms, {.run_ahead = RunAhead(input.candidates, input.loader)});
  return budget_s - pairs * (arms[0].wall_s + arms[1].wall_s);
}

}  // namespace loopscope
