#include "profiler/core/report/measured_gain.h"

#include <algorithm>

namespace loopscope {

bool MeasuredWithoutGain(const Report& report, const Finding& finding) {
  bool without = false;
  if (finding.treatment_id.empty()) return false;
  for (const TrialRow& trial : report.trials) {
    if (trial.treatment != finding.treatment_id) continue;
    if (trial.verdict == TrialVerdict::kFaster || trial.verdict == TrialVerdict::kUseful) return false;
    without = without || trial.verdict == TrialVerdict::kSlower || trial.verdict == TrialVerdict::kEquivalent ||
              trial.verdict == TrialVerdict::kDropped;
  }
  return without;
}

}  // namespace loopscope
