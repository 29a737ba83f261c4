#include "analyzers/diagnose/interference.h"

#include <fmt/format.h>

#include "analyzers/shared/processors.h"

namespace loopscope {
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
