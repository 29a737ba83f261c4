#include "analyzers/diagnose/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/report/expected_gain.h"

namespace loopscope {
namespace {

constexpr double kKnownShare = 0.5;  // of a time: from here on the reason is reported instead
constexpr double kLeastPct = 5;      // of the step: a smaller remainder is dropped

// Times for which a reason may replace, doubt, shrink or outrank another finding, settled in this order.
constexpr std::array kSettled = {Time::kLongSteps, Time::kEpochStart, Time::kEvaluation,  Time::kAnyLine,
                                 Time::kGrowth,    Time::kOptimizer,  Time::kIdleDevices, Time::kCommunication};

using Rules = std::span<std::vector<Finding>>;
using Place = std::pair<std::string, int>;

// The rule's kFound finding that claims this time; null if there is none.
Finding* ClaimantOf(std::vector<Finding>& findings, Time time) {
  const auto claims = [&](const Finding& one) { return one.verdict == Verdict::kFound && one.ClaimOf(time); };
  const auto found = std::ranges::find_if(findings, claims);
  return found == findings.end() ? nullptr : &*found;
}

std::vector<Finding*> ReasonsFor(Time time, Rules rules) {
  std::vector<Finding*> reasons;
  for (std::vector<Finding>& findings : rules) {
    for (Finding& one : findings) {
      const Claim* const claim = one.verdict == Verdict::kFound ? one.ClaimOf(time) : nullptr;
      if (claim != nullptr && claim->standing == Standing::kReason) reasons.push_back(&one);
    }
  }
  return reasons;
}

// A reason without a cost (kept graphs) takes the cost of its effect (growing steps).
void TakeOver(Finding& reason, const Finding& other) {
  reason.title += "; " + other.title;
  reason.severity = std::max(reason.severity, other.severity);
  reason.cost_ms_per_step = other.cost_ms_per_step;
  reason.cost_pct = other.cost_pct;
  reason.cost_is = other.cost_is;
  reason.evidence.insert(reason.evidence.end(), other.evidence.begin(), other.evidence.end());
}

void GiveWay(Finding& reason, std::vector<Finding>& findings) {
  if (reason.cost_ms_per_step <= 0) TakeOver(reason, findings.front());
  findings = {Finding::NotApplicable(fmt::format("{} reports this time", reason.rule))};
}

// Compared by what the fixes are expected to gain, as a report is ordered: a bound may hold many times what it is
// worth.
void Doubt(const Finding& reason, std::vector<Finding>& findings) {
  if (ExpectedGainOf(reason).ms < kKnownShare * ExpectedGainOf(findings.front()).ms) return;
  findings = {Finding::CannotTell(fmt::format("the waits that {} reports are in its times", reason.rule))};
}

// The report still shows it, below causes that can be fixed.
void StandBelow(const std::vector<Finding*>& reasons, std::vector<Finding>& whole) {
  double known_ms = 0;
  for (const Finding* const reason : reasons) {
    if (reason->severity > Severity::kInfo && !reason->per_epoch) known_ms = std::max(known_ms, reason->worth_ms());
  }
  for (Finding& finding : whole) {
    if (finding.verdict == Verdict::kFound && known_ms >= kKnownShare * finding.cost_ms_per_step) {
      finding.severity = Severity::kInfo;
    }
  }
}

void TakeOff(double ms, const std::string& text, Finding& finding) {
  const double left = std::max(0.0, 1 - ms / finding.cost_ms_per_step);
  finding.title += "; " + text;
  finding.cost_ms_per_step *= left;
  finding.cost_pct *= left;
  finding.severity = std::min(finding.severity, SeverityOfShare(finding.cost_pct));
}

// If the reason has at least half of the time (one table dominates the optimizer's work), keep only the remainder.
void KeepRest(Time time, const std::vector<Finding*>& reasons, std::vector<Finding>& findings) {
  double claimed_ms = 0;
  for (const Finding* const reason : reasons) claimed_ms += reason->ClaimOf(time)->ms;
  for (Finding& finding : findings) {
    if (finding.verdict != Verdict::kFound || claimed_ms < kKnownShare * finding.cost_ms_per_step) continue;
    const double ms = std::min(claimed_ms, finding.cost_ms_per_step);
    TakeOff(ms, fmt::format("{} of it is in {}", MsText(ms), reasons.front()->rule), finding);
  }
}

void Settle(Time time, Rules rules) {
  const std::vector<Finding*> reasons = ReasonsFor(time, rules);
  if (reasons.empty()) return;
  for (std::vector<Finding>& findings : rules) {
    const Finding* const claimant = ClaimantOf(findings, time);
    if (claimant == nullptr) continue;
    switch (claimant->ClaimOf(time)->standing) {
      case Standing::kReason:
        break;
      case Standing::kWhole:
        StandBelow(reasons, findings);
        break;
      case Standing::kGivesWay:
        GiveWay(*reasons.front(), findings);
        break;
      case Standing::kDoubted:
        Doubt(*reasons.front(), findings);
        break;
      case Standing::kRest:
        KeepRest(time, reasons, findings);
        break;
    }
  }
}

// Places that another rule blames, with a cost that is not just a bound.
std::set<Place> BlamedPlaces(Rules rules) {
  std::set<Place> blamed;
  for (const std::vector<Finding>& findings : rules) {
    for (const Finding& finding : findings) {
      const bool counts = finding.verdict == Verdict::kFound && finding.severity > Severity::kInfo &&
                          finding.cost_is != CostKind::kBound && !finding.per_epoch &&
                          finding.ClaimOf(Time::kItsPlaces) == nullptr;
      for (const Evidence& evidence : finding.evidence) {
        if (counts && evidence.where) blamed.insert({evidence.where->path, evidence.where->line});
      }
    }
  }
  return blamed;
}

void LeaveOut(const std::set<Place>& blamed, Finding& finding) {
  double left_out_ms = 0;
  std::erase_if(finding.evidence, [&](const Evidence& evidence) {
    const bool known = evidence.where && blamed.contains({evidence.where->path, evidence.where->line});
    left_out_ms += known ? evidence.ms : 0;
    return known;
  });
  if (left_out_ms > 0) TakeOff(left_out_ms, fmt::format("{} of it is in other findings", MsText(left_out_ms)), finding);
}

void SettlePlaces(Rules rules) {
  const std::set<Place> blamed = BlamedPlaces(rules);
  for (std::vector<Finding>& findings : rules) {
    if (ClaimantOf(findings, Time::kItsPlaces) == nullptr) continue;
    for (Finding& finding : findings) {
      if (finding.verdict == Verdict::kFound) LeaveOut(blamed, finding);
    }
    std::erase_if(findings, [](const Finding& finding) {
      return finding.verdict == Verdict::kFound && (finding.cost_pct < kLeastPct || finding.evidence.empty());
    });
  }
}

}  // namespace

void Attribute(Rules rules) {
  for (const Time time : kSettled) Settle(time, rules);
  SettlePlaces(rules);
}

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

namespace {

// Times the wait for a processor: not all steps wait for the same time, and findings are about some of them.
constexpr double kClearly = 1.5;

std::string KeptText(const Processors& processors) {
  return fmt::format("other programs kept the training thread from running for {:.0f} % of the time",
                     processors.others_pct);
}

}  // namespace

std::optional<std::string> InterferenceWarning(const Timeline& timeline) {
  if (!OthersInterfere(timeline)) return std::nullopt;
  const Processors processors = *ProcessorsOf(timeline);
  const std::string times = "times are longer than on a quiet machine";
  if (processors.others_pct >= kMinOthersPct) return fmt::format("{}: {}", KeptText(processors), times);
  return fmt::format("other programs used {:.1f} of the {} processors, and hardly any was free: {}", processors.others,
                     timeline.trace().run.cores, times);
}

void LeaveOutDoubtful(const Timeline& timeline, std::vector<Finding>& findings) {
  const auto processors = ProcessorsOf(timeline);
  if (!processors || processors->delay_pct < kMinOthersPct) return;
  const auto doubtful = std::erase_if(findings, [&](const Finding& finding) {
    return finding.verdict == Verdict::kFound && finding.cost_pct <= kClearly * processors->delay_pct;
  });
  if (doubtful == 0 || !findings.empty()) return;
  findings.push_back(Finding::CannotTell(fmt::format(
      "the training thread waited for a processor for {:.0f} % of the time, and what was found costs little more",
      processors->delay_pct)));
}

}  // namespace loopscope
