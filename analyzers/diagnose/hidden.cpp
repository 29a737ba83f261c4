#include "analyzers/diagnose/hidden.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"

namespace loopscope {
namespace {

constexpr double kLeastLeftPct = 1;   // of the step
constexpr double kMostlySeen = 0.75;  // of the host's time: from this device idle time on, the host is the reason

bool IsOfSteps(const Finding& finding) {
  return finding.verdict == Verdict::kFound && !finding.per_epoch;
}

void Bound(const Timeline& timeline, double idle_ms, Finding& finding) {
  finding.evidence.push_back(
      {fmt::format("the GPU is idle for {} per step: while it has work, this costs nothing", MsText(idle_ms)), 1,
       std::nullopt});
  const double before_ms = finding.cost_ms_per_step;
  const Finding most = CostingAtMost(timeline, idle_ms, "", finding.severity);
  finding.cost_ms_per_step = most.cost_ms_per_step;
  finding.cost_pct = most.cost_pct;
  finding.severity = most.severity;
  for (Evidence& one : finding.evidence) one.ms *= before_ms > 0 ? most.cost_ms_per_step / before_ms : 0;
  if (idle_ms < kMostlySeen * before_ms) finding.cost_is = most.cost_is;
  if (finding.expected_gain_ms) finding.expected_gain_ms = std::min(*finding.expected_gain_ms, idle_ms);
}

}  // namespace

void LeaveOutHidden(const Timeline& timeline, std::vector<Finding>& findings) {
  if (!OnDevice(timeline)) return;
  if (!DevicesKnown(timeline)) {
    for (Finding& finding : findings) {
      if (!IsOfSteps(finding)) continue;
      finding.cost_is = CostKind::kBound;
      finding.evidence.push_back(
          {"what the GPU did meanwhile is not known: while it has work, this costs nothing", 1, std::nullopt});
    }
    return;
  }
  const double idle_ms = IdleMs(timeline);
  for (Finding& finding : findings) {
    if (IsOfSteps(finding) && finding.cost_ms_per_step > idle_ms) Bound(timeline, idle_ms, finding);
  }
  const auto hidden =
      std::erase_if(findings, [](const Finding& one) { return IsOfSteps(one) && one.cost_pct < kLeastLeftPct; });
  if (hidden == 0 || !findings.empty()) return;
  findings.push_back(Finding::Clear(
      fmt::format("the host's time is hidden behind the GPU, which is idle for {} per step", MsText(idle_ms))));
}

}  // namespace loopscope
