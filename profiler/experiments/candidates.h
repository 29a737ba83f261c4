// The fixes that an experiment tries: those that cure the findings, or those that the user names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/host.h"
#include "profiler/core/report/finding.h"
#include "profiler/core/result.h"
#include "profiler/core/trace/facts.h"
#include "profiler/core/trace/trace.h"
#include "profiler/core/treatment.h"
#include "profiler/experiments/arm.h"
#include "profiler/experiments/launch_results.h"

namespace loopscope {

struct Candidate {
  const Treatment* treatment = nullptr;  // never null
  std::vector<std::string> values;       // at least one, the likeliest first; screening keeps the fastest
  std::vector<std::string> rules;        // rules that it would cure here; empty if only the user named it
  double cost_ms = 0;                    // per step, what the findings are worth
  bool firm = false;                     // one of them is worth 5 % of the step or more, and not only as a bound

  std::string Setting() const { return std::string(treatment->id) + "=" + values.front(); }
  Settings::value_type KeyAndValue() const { return {std::string(treatment->id), values.front()}; }
};

// --only and --skip: items "key" or "key=value".
struct Selection {
  std::vector<std::string> only, skip;
};

// Ordered by expected worth, as the headline orders findings: firm ones first, then the costliest; each treatment once,
// without those that the program cannot apply (CanApply, by its trace). With `only`,
// exactly those, found or not. Error (exit 2): a key that is not a treatment, or one that the user named without a
// value and that has no value to try on this host.
Result<std::vector<Candidate>> CandidatesOf(std::span<const Finding> findings, const Host& host,
                                            const Selection& selection, const Trace& trace = {});

// The metric for step times: kSampleTime if any of them changes the number of samples per step, since every arm is
// compared with arms that include it; else kStepTime.
Metric StepMetric(std::span<const Candidate> candidates);

bool JudgedByBoundary(const Candidate& candidate);  // judged by the epoch boundary

// Epochs may differ as soon as one of the candidates changes training: ranks that share the samples see fewer each.
SameWork SameWorkOf(std::span<const Candidate> candidates);

// The most batches that any arm's loader prepares ahead: workers x prefetch, each the largest tried or present value.
int RunAhead(std::span<const Candidate> candidates, const LoaderDepth& untreated);

// Whether one of the candidates changes how far the loader runs ahead, and none the length of an epoch or of a step.
bool ChangesRunAhead(std::span<const Candidate> candidates);

}  // namespace loopscope
