#include "profiler/core/format.h"

namespace loopscope {

std::string_view ReportKindName(ReportKind kind) {
  switch (kind) {
    case ReportKind::kRun:
      return "a diagnosis";
    case ReportKind::kTrials:
      return "trials of fixes";
    case ReportKind::kTarget:
      return "times to a target";
    case ReportKind::kSweep:
      return "a sweep";
    case ReportKind::kGate:
      return "a gate";
    case ReportKind::kComparison:
      break;
  }
  return "a comparison";
}

ReportKind KindOf(const Report& report) {
  if (report.gate) return ReportKind::kGate;
  if (report.sweep) return ReportKind::kSweep;
  if (report.compare) return ReportKind::kComparison;
  if (report.target) return ReportKind::kTarget;
  return report.trials.empty() && report.plan.empty() ? ReportKind::kRun : ReportKind::kTrials;
}

}  // namespace loopscope
