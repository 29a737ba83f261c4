#include "analyzers/diagnose/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "analyzers/analyzers.h"
#include "analyzers/diagnose/attribution.h"
#include "analyzers/diagnose/rule_texts.h"
#include "analyzers/forms/forms.h"
#include "analyzers/shared/devices.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/parallel.h"
#include "profiler/core/report/expected_gain.h"
#include "profiler/core/report/finding.h"

namespace loopscope {
namespace {

// "torchdiffeq" of "torchdiffeq/_impl/solvers.py", the folder of a file outside of the working directory; empty for a
// file in the working directory itself.
std::string PackageOf(const std::string& relative) {
  if (relative.starts_with('/')) return relative.substr(0, relative.rfind('/'));
  const std::size_t slash = relative.find('/');
  return slash == relative.npos ? "" : relative.substr(0, slash);
}

}  // namespace

std::optional<Where> CalledAt(const Trace& trace, const Where& where) {
  const std::string& directory = trace.run.working_directory;
  const std::string package = PackageOf(RelativePath(where.path, directory));
  if (package.empty()) return std::nullopt;
  const auto here = [&](const Stack& stack) {
    return !stack.frames.empty() && stack.frames.front().line == where.line && stack.frames.front().path == where.path;
  };
  for (const Stack& stack : trace.stacks) {
    if (!here(stack)) continue;
    const auto caller = std::ranges::find_if(stack.frames, [&](const Where& frame) {
      const std::string path = RelativePath(frame.path, directory);
      return !path.starts_with('/') && PackageOf(path) != package;
    });
    if (caller != stack.frames.end()) return *caller;
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t kMinSteps = 3;
constexpr std::size_t kJudgingThreads = 2;
constexpr double kMaxDroppedShare = 0.01;

std::optional<std::string> WhyNothingCanBeSaid(const Timeline& timeline) {
  const std::size_t steps = timeline.steady().size();
  if (steps == 0) {
    return timeline.why_no_steps().empty() ? "no timed step was seen" : timeline.why_no_steps();
  }
  if (steps < kMinSteps) {
    return fmt::format("only {} step{} outside warm-up and epoch boundaries, and {} are needed", steps,
                       steps == 1 ? "" : "s", kMinSteps);
  }
  const Quality& quality = timeline.trace().quality;
  const double all = static_cast<double>(quality.events + quality.dropped);
  if (static_cast<double>(quality.dropped) > kMaxDroppedShare * all) {
    return fmt::format("{} of {} records were dropped", quality.dropped, quality.events + quality.dropped);
  }
  return std::nullopt;
}

// Without a probe in the program's torch, a rule about its operators has seen nothing, so it must not report "clear".
std::optional<std::string> WhyBlind(const Analyzer& analyzer, const Timeline& timeline) {
  if (!(analyzer.needs & kNeedsOps)) return std::nullopt;
  for (const Mark& mark : timeline.trace().marks) {
    const bool torch_is_off =
        mark.kind == MarkKind::kProbeOff && mark.value == static_cast<std::uint64_t>(wire::ProbeId::kTorch);
    if (torch_is_off) return std::string(timeline.trace().text(mark.name));
  }
  return std::nullopt;
}

std::optional<std::string> WhyHidden(const Analyzer& analyzer, const Timeline& timeline) {
  const std::string& why = timeline.device_coverage().why_no_passes;
  return (analyzer.needs & kNeedsPasses) && !why.empty() ? std::optional(why) : std::nullopt;
}

// Whether the verdict was decided by times: found, or clear because it takes too little.
bool IsJudged(const std::vector<Finding>& findings) {
  return std::ranges::all_of(findings, [](const Finding& finding) {
    return finding.verdict == Verdict::kFound || finding.verdict == Verdict::kClear;
  });
}

void Complete(Finding& finding, const Analyzer& analyzer, const Timeline& timeline) {
  AddRule(analyzer, finding);
  if (finding.verdict != Verdict::kFound) return;
  if (finding.advice.empty()) finding.advice = RuleAdvice(analyzer.id);
  finding.examples = RuleExamples(analyzer.id);
  std::optional<Where> place;
  if (!finding.evidence.empty()) place = finding.evidence.front().where;
  if (place) place->path = RelativePath(place->path, timeline.trace().run.working_directory);
  finding.id = FindingId(analyzer.id, place);
  for (Evidence& one : finding.evidence) {
    if (one.where) one.called_at = CalledAt(timeline.trace(), *one.where);
  }
  if (finding.per_epoch) return;
  finding.cost_ms_per_step = std::min(finding.cost_ms_per_step, timeline.mean_step_ms());
  finding.cost_pct = std::min(finding.cost_pct, 100.0);
  for (Evidence& one : finding.evidence) one.ms = std::min(one.ms, finding.cost_ms_per_step);
}

RuleRow RowOf(const Analyzer& analyzer, const std::vector<Finding>& findings) {
  RuleRow row{.id = std::string(analyzer.id)};
  for (const Claim& claim : analyzer.claims) {
    if (claim.standing == Standing::kWhole || claim.standing == Standing::kGivesWay) row.judges = TimeName(claim.of);
  }
  for (const Finding& finding : findings) {
    if (row.verdict == Verdict::kFound) break;
    row.verdict = finding.verdict;
    row.reason = finding.reason;
  }
  return row;
}

}  // namespace

void AddRule(const Analyzer& analyzer, Finding& finding) {
  finding.rule = analyzer.id;
  finding.claims.insert(finding.claims.end(), analyzer.claims.begin(), analyzer.claims.end());
  finding.usual_share = analyzer.usual_share;
  finding.whatever_runs = analyzer.whatever_runs;
  finding.setting = analyzer.setting;
}

std::vector<Finding> Judge(const Analyzer& analyzer, const Timeline& timeline) {
  const std::optional<std::string> nothing = WhyNothingCanBeSaid(timeline);
  const bool speaks = analyzer.without_steps && timeline.steps().empty();
  std::vector<Finding> findings =
      nothing && !speaks ? std::vector<Finding>{Finding::CannotTell(*nothing)} : analyzer.run(timeline);
  if ((analyzer.needs & kNeedsCosts) && IsJudged(findings)) {
    if (const auto why_not = WhyDevicesUnknown(timeline)) findings = {*why_not};
  }
  if (std::ranges::find(findings, Verdict::kFound, &Finding::verdict) == findings.end()) {
    const auto blind = WhyBlind(analyzer, timeline);
    const auto hidden = blind ? blind : WhyHidden(analyzer, timeline);
    if (hidden) findings = {Finding::CannotTell(*hidden)};
  }
  if (analyzer.of_host) LeaveOutHidden(timeline, findings);
  if (analyzer.needs & kNeedsQuiet) LeaveOutDoubtful(timeline, findings);
  for (Finding& finding : findings) Complete(finding, analyzer, timeline);
  return findings;
}

void Diagnose(const Timeline& timeline, const TreatmentChoice& treatment_of, Report& report) {
  const auto analyzers = AllAnalyzers();
  std::vector<std::vector<Finding>> findings(analyzers.size());
  ParallelFor(analyzers.size(), kJudgingThreads, [&](std::size_t i) { findings[i] = Judge(*analyzers[i], timeline); });

  Attribute(findings);
  report.forms = FormRowsOf(timeline);
  if (report.headroom) report.headroom->shared = OthersInterfere(timeline);
  if (auto warning = InterferenceWarning(timeline)) report.quality.warnings.push_back(*std::move(warning));
  report.rules.clear();
  report.findings.clear();
  for (std::size_t i = 0; i < analyzers.size(); ++i) {
    report.rules.push_back(RowOf(*analyzers[i], findings[i]));
    for (Finding& finding : findings[i]) {
      if (finding.verdict != Verdict::kFound) continue;
      finding.treatment_id = treatment_of(finding);
      report.findings.push_back(std::move(finding));
    }
  }
  std::ranges::stable_sort(report.findings, GainsMore);
}

}  // namespace loopscope
