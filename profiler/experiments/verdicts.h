// Turns blocks into verdicts: each planned comparison as a row of the report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/plan.h"

namespace loopscope {

inline constexpr double kUsefulFall = 0.05;  // of peak memory

// One row per planned comparison, in the plan's order: its subject from `subjects`, and the result of the blocks.
// faster/slower: Holm p <= 5 % over all comparisons that blocks were run for, those that ended early entering as p = 1;
// comparisons without a block make no claim, and are not in the family. equivalent: two
// one-sided tests within ±margin, under Holm as well. useful: for memory treatments, a peak that falls by 5 % or more
// and an interval that excludes zero; else their step time decides.
std::vector<TrialRow> JudgeComparisons(const ExperimentPlan& plan, const Observations& observed,
                                       std::span<const TrialRow> subjects, Metric step_metric, double margin);

// Noise of step times: the pair spread of the comparisons that share ALL (the baseline when there are none), and what
// effect it can detect.
NoiseFacts NoiseOf(const ExperimentPlan& plan, const Observations& observed, Metric step_metric = Metric::kStepTime);

// As the report names it: "exact", "pooled", "bets", or "" under four blocks.
std::string_view MethodName(Method method);

// Reasons are joined by semicolons; nothing is added where there is none.
void AddReason(std::string& reason, const std::string& more);

// A difference of logarithms as a percentage.
double Percent(double log_ratio);

// Step times or epoch boundaries: memory treatments are also timed, and their peak is judged in addition.
Metric TimedMetric(Metric own, Metric step_metric);

}  // namespace loopscope
