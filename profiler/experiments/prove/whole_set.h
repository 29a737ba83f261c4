// The first answer of `prove`: what the fixes bring together. Pairs of the baseline and ALL that are looked at after
// each, and that end when what was bet on them is enough: a clear gain is known after six. Where the budget holds no
// blocks after them, the first fix has an arm beside the pairs, and is bet on as well.
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
  // Of the first fix only.
  ExperimentPlan PlanOfFirstFix() const;
  std::optional<LaunchResult> baseline() const;  // a launch of it, which says what the work is
};

// None where the fixes are not one question: where fewer than two work together (but for a single one), or where ALL
// fails. A single fix gets twelve pairs more and all of the budget; a set leaves half of it, or what the fewest blocks
// of one fix need, to the blocks that come after it, or where that leaves no six pairs, takes all of it with the first
// fix beside. Under six pairs, which no bet can decide, the pooled form judges. Stops without a set when the user
// interrupts.
std::optional<WholeSet> MeasureWholeSet(const ExperimentInput& input, std::span<const Contender> contenders,
                                        const FixPilots& pilots, ExperimentPlan& plan, LaunchSeries& series);

}  // namespace loopscope
