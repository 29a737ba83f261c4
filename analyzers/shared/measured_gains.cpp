#include "analyzers/shared/measured_gains.h"

namespace loopscope {

std::optional<double> MeasuredRatio(const Trace& trace, std::string_view change) {
  double before_ns = 0, after_ns = 0;
  for (const MeasuredGain& gain : trace.gains) {
    if (gain.change != change) continue;
    before_ns += static_cast<double>(gain.before_ns) * gain.count;
    after_ns += static_cast<double>(gain.after_ns) * gain.count;
  }
  if (before_ns <= 0) return std::nullopt;
  return after_ns / before_ns;
}

}  // namespace loopscope
