#include "analyzers/diagnose/interference.h"

#include <fmt/format.h>

#include "analyzers/shared/processors.h"

namespace loopscope {
namespace {

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
  if (!processors || processors->others_pct < kMinOthersPct) return;
  const auto doubtful = std::erase_if(findings, [&](const Finding& finding) {
    return finding.verdict == Verdict::kFound && finding.cost_pct <= processors->others_pct;
  });
  if (doubtful == 0 || !findings.empty()) return;
  findings.push_back(Finding::CannotTell(KeptText(*processors) + ", and what was found costs no more"));
}

}  // namespace loopscope
