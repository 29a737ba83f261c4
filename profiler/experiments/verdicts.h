// From blocks to words: what each planned comparison says, as rows of the report.
#pragma once

#include <span>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/plan.h"

namespace loopscope {

inline constexpr double kUsefulFall = 0.05;  // of peak memory

// One row per planned trial, in the plan's order. faster/slower: Holm p <= 5 % over all planned trials, those that
// ended early entering as p = 1. equivalent: two one-sided tests within ±margin, under Holm as well. useful: for
// memory's treatments, a peak that falls by 5 % or more and an interval that excludes none; else their step time
// decides.
std::vector<TrialRow> JudgeTrials(const ExperimentPlan& plan, const Observations& observed,
                                  std::span<const Candidate> candidates, std::span<const CandidateState> states,
                                  double margin);

// The row of a candidate that never came to the blocks.
TrialRow RowWithoutBlocks(const Candidate& candidate, const CandidateState& state);

// Of step times: the pair spread of the trials that share ALL (the baseline when there are none), and what it can show.
NoiseFacts NoiseOf(const ExperimentPlan& plan, const Observations& observed, Metric step_metric = Metric::kStepTime);

// As the report says it: "exact", "pooled", or "" under four blocks.
std::string_view MethodName(Method method);

// The percentage that a difference of logarithms is.
double Percent(double log_ratio);

}  // namespace loopscope
