#include "analyzers/diagnose/interference.h"

#include <fmt/format.h>

#include "analyzers/shared/processors.h"

namespace loopscope {
namespace {

constexpr double kMinDelayPct = 5;       // of the time, that other programs kept the training thread from running
constexpr double kMinOthersShare = 0.2;  // of the processors, used by other programs ...
constexpr double kCrowded = 0.85;        // ... where so many of all are busy: threads of operators wait, too

// Other programs on most of what this one leaves free; absent where there was room, or nothing tells.
std::optional<std::string> CrowdedText(const Timeline& timeline, const Processors& processors) {
  const double cores = timeline.trace().run.cores;
  if (cores <= 0 || processors.others < kMinOthersShare * cores || processors.busy < kCrowded * cores) return {};
  return fmt::format("other programs used {:.1f} of the {} processors", processors.others, cores);
}

}  // namespace

std::optional<std::string> InterferenceWarning(const Timeline& timeline) {
  const auto processors = ProcessorsOf(timeline);
  if (!processors) return std::nullopt;
  const std::string times = "times are longer than on a quiet machine";
  if (processors->others_pct >= kMinDelayPct) {
    return fmt::format("other programs kept the training thread from running for {:.0f} % of the time: {}",
                       processors->others_pct, times);
  }
  const auto crowded = CrowdedText(timeline, *processors);
  if (!crowded) return std::nullopt;
  return fmt::format("{}, and hardly any was free: {}", *crowded, times);
}

void LeaveOutDoubtful(const Timeline& timeline, std::vector<Finding>& findings) {
  const auto processors = ProcessorsOf(timeline);
  if (!processors || processors->others_pct < kMinDelayPct) return;
  const auto doubtful = std::erase_if(findings, [&](const Finding& finding) {
    return finding.verdict == Verdict::kFound && finding.cost_pct <= processors->others_pct;
  });
  if (doubtful == 0 || !findings.empty()) return;
  findings.push_back(Finding::CannotTell(
      fmt::format("other programs kept the training thread from running for {:.0f} % of the time, and what was found "
                  "costs no more",
                  processors->others_pct)));
}

}  // namespace loopscope
