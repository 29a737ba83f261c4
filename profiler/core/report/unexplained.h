// Time of a step and of the run that does not compute and that no finding explains, and the lines with most of it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

double Positive(double value);  // 0 if it is negative or not finite

// The finding costs less than stated: its treatment was measured and brought nothing. Except if its cost is one part of
// the step: that time is lost whatever the fix brings (the loop waits for its loader, and more workers do not help).
bool Refuted(const Report& report, const Finding& finding);

// All lost time at one place, in any phase; without a place, of one phase.
struct UnexplainedPlace {
  LineRow row;          // of the largest of its rows, with the ms of all; names what has half of phase_ms, else nothing
  double left_ms = 0;   // per step: what no finding explains
  double phase_ms = 0;  // of the ms: in the row's phase
};
// Largest first. Where no lines are known, one per part of the step.
std::vector<UnexplainedPlace> UnexplainedPlaces(const Report& report);

// A part of the run outside of steps.
struct UnexplainedPart {
  std::string_view name;  // "epoch_start", "evaluation" as in LineRow::phase, "other_between_steps"
  double ms = 0, left_ms = 0;
  int occurrences = 0;
};
std::vector<UnexplainedPart> UnexplainedParts(const Report& report);

// The share of the step that the passes, the optimizer and waiting for devices have; absent where no part is known.
std::optional<double> ComputePct(const Report& report);

// The row of this phase with most time, that of one place summed; empty when there is none with a place.
LineRow LargestLine(const std::vector<LineRow>& lines, std::string_view phase);
LineRow LargestComputeLine(const Report& report);
LineRow LineAt(const Report& report, const std::optional<Where>& where);  // of the step; empty where none is known

}  // namespace loopscope
