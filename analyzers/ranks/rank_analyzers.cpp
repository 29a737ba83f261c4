#include "analyzers/ranks/rank_analyzers.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analyzers/diagnose/rule_texts.h"

#define LOOPSCOPE_SEAM_KIND RankAnalyzer
#define LOOPSCOPE_SEAM_DEF "analyzers/ranks/ranks.def"
#define LOOPSCOPE_RANKANALYZER LOOPSCOPE_SEAM_ENTRY
#include "profiler/core/seam_list.inc"

namespace loopscope {
namespace {

void Complete(Finding& finding, const RankAnalyzer& analyzer, double mean_step_ms) {
  finding.rule = analyzer.id;
  finding.advice = RuleAdvice(analyzer.id);
  finding.examples = RuleExamples(analyzer.id);
  finding.id = FindingId(analyzer.id, std::nullopt);
  finding.cost_ms_per_step = std::min(finding.cost_ms_per_step, mean_step_ms);
  finding.cost_pct = mean_step_ms > 0 ? 100 * finding.cost_ms_per_step / mean_step_ms : 0;
  if (finding.cost_ms_per_step > 0) finding.severity = SeverityOfShare(finding.cost_pct);
}

}  // namespace

std::span<const RankAnalyzer* const> AllRankAnalyzers() {
  return kAll;
}

void DiagnoseRanks(std::span<const RankSummary> ranks, const TreatmentChoice& treatment_of, Report& report) {
  double mean_step_ms = 0;
  for (const RankSummary& rank : ranks) mean_step_ms = std::max(mean_step_ms, rank.mean_step_ms);
  for (const RankAnalyzer* analyzer : AllRankAnalyzers()) {
    RuleRow row{.id = std::string(analyzer->id)};
    for (Finding& finding : analyzer->run(ranks)) {
      row.verdict = finding.verdict;
      row.reason = finding.reason;
      if (finding.verdict != Verdict::kFound) continue;
      Complete(finding, *analyzer, mean_step_ms);
      finding.treatment_id = treatment_of(finding);
      report.findings.push_back(std::move(finding));
    }
    report.rules.push_back(std::move(row));
  }
  std::ranges::stable_sort(report.findings, [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.cost_ms_per_step > b.cost_ms_per_step;
  });
}

}  // namespace loopscope
