// What the fix of a finding is expected to gain, and whether it gained anything when it was tried. Only the expectation
// ranks findings, not how exactly a cost is known.
#pragma once

#include <optional>
#include <string_view>

#include "profiler/core/report/finding.h"

namespace loopscope {

struct Report;

// What the expectation rests on.
enum class GainBasis {
  kWithout,   // the finding has no cost
  kMeasured,  // a measurement in the program, or of the trace
  kExact,     // the cost, which disappears with its cause
  kLikely,    // a share of a bound
  kLeast,     // the least that it costs
};
std::string_view GainBasisName(GainBasis basis);  // "none", "measured", "exact", "likely", "least"

struct ExpectedGain {
  double ms = 0, low_ms = 0, high_ms = 0;  // per step: the value and its interval
  GainBasis basis = GainBasis::kWithout;
};

ExpectedGain ExpectedGainOf(const Finding& finding);

// In percent of the step, as cost_pct; absent without a cost.
struct ExpectedGainPct {
  double pct = 0, low = 0, high = 0;
  GainBasis basis = GainBasis::kWithout;
};
std::optional<ExpectedGainPct> ExpectedGainPctOf(const Finding& finding);

// The order of a report: the largest gain first, findings for information last. A fact without a cost ranks like the
// smallest cost of its severity.
bool GainsMore(const Finding& finding, const Finding& other);

// The finding's treatment was measured and brought nothing, or made the loop slower.
bool MeasuredWithoutGain(const Report& report, const Finding& finding);

}  // namespace loopscope
