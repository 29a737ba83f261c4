// Live pairs: treatments that can be switched between steps take turns within one launch, in blocks of steps of random
// order. Compares many in the time of a few launches, but in one process: it only ranks, launches confirm.
#pragma once

#include <span>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/pilots.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {

// Arms and comparisons as for launches, and the steps that they take turns in.
struct LivePlan {
  ExperimentPlan plan;
  LiveSchedule schedule;
  int settle = 2;  // first steps of each block, left out
  int rounds = 0;  // each has every arm once
  double round_s = 0, seconds = 0;

  int steps() const { return rounds * static_cast<int>(schedule.arms.size()) * schedule.block_steps; }
};

struct LiveSizes {
  double step_ms = 0;  // of the slowest arm, as far as known
  double startup_s = 0;
  int run_ahead = 0;  // batches; a slow arm's queue would make the next arm look faster
  double seconds = 0;
  int alone = 0;  // fixes that are also compared alone
  std::uint64_t seed = 1;
};

inline constexpr double kLiveShare = 0.2;  // of the budget that is left, for screening
inline constexpr int kFewestRounds = kExactBlocks;

bool CanGoLive(const Candidate& candidate);

// Copies of the contenders that take turns, without their state; `indices`: their places.
std::vector<Contender> LiveOnes(std::span<const Contender> contenders, std::vector<int>& indices);

// Too few rounds, or too many candidates: plan.rounds is 0.
LivePlan PlanLive(std::span<const Candidate> candidates, const LiveSizes& sizes);

LaunchSpec LiveSpec(const ExperimentInput& input, const LivePlan& live);

// Rounds as blocks: each value is the mean of a block's plain steps, without the first `settle`.
Observations ObserveLive(const LaunchResult& result, const LivePlan& live);

// Rows of method "live". A treatment that did not act in the blocks in which it was on, or that acted in others, is not
// judged by its time.
std::vector<TrialRow> JudgeLive(const LaunchResult& result, const LivePlan& live, std::vector<Contender> contenders,
                                double margin);

// Before the blocks of launches: clear losers get the verdict "dropped", the others an order, the best first. Takes at
// most a fifth of the remaining budget, and no time that the pairs of all fixes and the costliest fix's blocks need;
// does nothing if there is nothing to compare.
void ScreenLive(const ExperimentInput& input, std::vector<Contender>& contenders, const FixPilots& pilots,
                LaunchSeries& series);

}  // namespace loopscope
