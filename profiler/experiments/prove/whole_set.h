// The first answer of `prove`: what the fixes gain together. Pairs of the baseline and ALL, checked by bets after each
// pair, that end as soon as the bets decide: after six for a clear gain. If the budget holds no blocks after them, the
// first fix gets an arm beside the pairs, and bets of its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/experiments/blocks.h"
#include "profiler/experiments/plan.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/pilots.h"

namespace loopscope {

struct WholeSet {
  ExperimentPlan plan;  // baseline, ALL, and their comparison; then that of the first fix, where it has one here
  Observations observed;
  std::vector<std::string> description;  // of the plan, before its launches
  bool only_fix = false;  // ALL is a single fix, and nothing else is tried: there is nothing left to measure

  bool with_first_fix() const { return plan.comparisons.size() > 1; }
  // Only the first fix's comparison.
  ExperimentPlan PlanOfFirstFix() const;
  std::optional<LaunchResult> baseline() const;  // a launch of it, which says what the work is
};

// None if fewer than two fixes work together (except a single fix), or if ALL fails. A single fix gets twelve more
// pairs and the whole budget. A set leaves half of it, or what the fewest blocks of one fix need, to the later blocks;
// if that leaves no six pairs, it takes all of it with the first fix beside. Under six pairs, which no bet can decide,
// the pooled form judges. Stops without a set when the user
// interrupts.
std::optional<WholeSet> MeasureWholeSet(const ExperimentInput& input, std::span<const Contender> contenders,
                                        const FixPilots& pilots, ExperimentPlan& plan, LaunchSeries& series);

}  // namespace loopscope
