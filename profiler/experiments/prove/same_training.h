// Does a treated loop still train the same thing? Judged on the losses of untimed check launches, as strictly as the
// treatment's class allows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/core/treatment.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/pilots.h"

namespace loopscope {

inline bool IsDifferent(const LossFacts& facts) {
  return facts.verdict == LossVerdict::kDifferent;
}
inline bool CannotTell(const LossFacts& facts) {
  return facts.verdict == LossVerdict::kCannotTell;
}

bool BitIdentical(std::span<const double> a, std::span<const double> b);  // same length, same bits, at least one

// kExact and kExactIf on a program whose losses repeat.
LossFacts JudgeExact(const LaunchResult& baseline, const LaunchResult& treated);

// kResampled: both launched with the per-sample generator fixed. The samples must be the same and then the losses too.
// Other losses on the same samples do not prove different training, since a program need not fix its generators.
LossFacts JudgeResampled(const LaunchResult& baseline, const LaunchResult& treated);

// kNumeric on a program whose losses repeat. The yardstick is how far the baseline's loss falls (mean of its first
// quarter minus mean of its last): rounding moves a curve by a few hundredths of that, frozen weights by about all of
// it. Up to a quarter of the fall on average, and at the end, is within rounding; over half of it, or less than half of
// the baseline's fall, is different; between them, and where the baseline's fall is under twice its standard error:
// cannot tell.
LossFacts JudgeNumeric(const LaunchResult& baseline, const LaunchResult& treated);

// Any class on a program whose losses do not repeat: an exact permutation test of treated-to-baseline distances against
// baseline-to-baseline ones, on at least kSpreadBaselines baseline curves. Different when p <= `alpha`. A program whose
// losses repeat is judged the same way on curves of as many seeds, a different one for each launch.
inline constexpr int kSpreadBaselines = 6;
LossFacts JudgeAgainstSpread(std::span<const LaunchResult> baselines, std::span<const LaunchResult> treated,
                             double alpha);

// How many treated curves such a test needs so that it can reject at `alpha`: the fewest r, 1 / C(6 + r, r) <= alpha.
int TreatedCurvesFor(double alpha);

// The check launches of an experiment: the fewest that show whether each fix still trains the same thing.

// Sets every living fix's loss facts; one that trains something else gets the verdict "different-training".
//
// Fixes that must keep every bit are checked all at once: if the losses with all of them equal the untreated ones, this
// proves each of them, and that the program repeats itself. Otherwise each is launched on top of the untreated
// program. Numeric and resampled fixes are launched on top of what was proved identical (it is often much faster). When
// two untreated launches differ, six of them and several treated ones are compared by permutation, if a quarter of the
// budget holds that many. So is a resampled fix whose random numbers the program does not fix, with another seed for
// every launch. Launches that would leave too little budget for the first pairs of ALL are skipped: "cannot tell".
void CheckTraining(const ExperimentInput& input, std::vector<Contender>& contenders, const FixPilots& pilots,
                   LaunchSeries& series);

}  // namespace loopscope
