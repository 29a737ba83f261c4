// What a step is, how long it takes, and what the run and its lines are made of (see wording.h).
#pragma once

#include <string>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

std::string StepText(const StepFacts& steps);  // "120 ms on average over 50 steps (p50 …)"; mean_ms is known
std::string ClockText(
    const StepFacts& steps);  // "A step ends with SGD.step(): 1 batch, 1 backward pass."; may be empty
std::string TrendText(const StepFacts& steps);  // whether steps get longer, and what the mean leaves out; may be empty
std::string EpochText(const Report& report);    // "An epoch boundary takes 310 ms more."; empty where there is none

// A part of the run, in the order of time; those that took none are left out.
struct WholeRow {
  std::string name;   // "start-up", "50 steps", "2 starts of epochs"
  std::string phase;  // of its lines in Report::whole_lines; empty where there are none
  double ms = 0, share_pct = 0;
};
std::vector<WholeRow> WholeRows(const Report& report);

std::string LinePlaceText(const LineRow& line, const std::string& directory);  // "train.py:9 in step: aten::linear"

// Where the time goes as tables in Markdown.

// The step's costliest lines and the run's parts; empty where neither is known.
std::string TimeTables(const Report& report);

}  // namespace loopscope
