// What a report says first: the largest cause of lost time, whether or not a rule explains it.
#pragma once

#include <optional>
#include <string>

#include "profiler/core/report/report.h"

namespace loopscope {

enum class HeadlineKind {
  kNoStep,     // no step could be measured
  kUnknown,    // most rules lack what they need, and nothing else is known
  kFinding,    // a finding
  kPlace,      // a line, or a part of the step of which no line is known, that no finding explains
  kSpread,     // a part of the step, over lines of which none has much of it
  kWholePart,  // a part of the run outside of steps that no finding explains
  kHealthy,    // nothing: the loop computes
  kCalls,      // nothing, but most of the step is the price of calling operators
  kNothing,    // nothing was found
};

struct Headline {
  HeadlineKind kind = HeadlineKind::kNothing;
  const Finding* finding = nullptr;  // of the report; for kHealthy the largest of the small ones, if any
  // "forward"; for kHealthy also "gpu", that has work for share_pct of the step; for kWholePart "epoch_start",
  // "evaluation" or "other_between_steps"
  std::string part = {};
  std::optional<Where> where = {}, library = {};  // as in LineRow; for kCalls the finding's first place
  std::string what = {};                          // likewise
  std::optional<Where> called_at = {};            // as in Evidence; for kFinding
  bool of_run = false;  // the share is that of the run as far as it was seen, without its start-up; else of the step
  double ms = 0, share_pct = 0;  // kPlace, kSpread, kFinding: per step; kWholePart: of the run
  // The part of it at `where`: for kSpread; for kWholePart, within one start of an epoch (or evaluation), which takes
  // occurrence_ms; for kFinding if `where` is known to have only part of its cost, else 0.
  double at_ms = 0, occurrence_ms = 0;
  int places = 0;  // kSpread: how many lines
};

// Findings above info count by what their fix is expected to gain (expected_gain.h), never more than the step; one
// whose fix was measured to bring nothing does not count. Shares of the run are compared where the run is known. The
// report must outlive the result.
Headline HeadlineOf(const Report& report);

// The finding's cost in percent of the observed run without its start-up; absent if the run is unknown or the finding
// has no cost.
std::optional<double> ShareOfRunPct(const Report& report, const Finding& finding);

}  // namespace loopscope
