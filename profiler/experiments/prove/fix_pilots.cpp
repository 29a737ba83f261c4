#include "profiler/experiments/prove/fix_pilots.h"

#include <vector>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr std::size_t kChecksAtLeast = 2;  // launches: the untreated program, and all fixes that keep every bit

}  // namespace

double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots, int pairs) {
  const double budget_s = input.options.budget_s;
  if (!input.options.until_decided || !pilots.all.ok()) return budget_s;
  std::vector<Arm> arms(2);
  Estimate(arms[0], pilots.baseline);
  Estimate(arms[1], pilots.all);
  (void)pilots.run.FinalWindowOf(arms, {.run_ahead = RunAhead(input.candidates, input.loader)});
  return budget_s - pairs * (arms[0].wall_s + arms[1].wall_s);
}

bool HasTimeBeforePairs(const ExperimentInput& input, const FixPilots& pilots, const LaunchSeries& series,
                        std::size_t launches) {
  const double needed_s = static_cast<double>(launches + kChecksAtLeast) * pilots.all.wall_s;
  return series.spent_s() + needed_s <= MayBeSpentBeforePairs(input, pilots);
}

}  // namespace loopscope
