#include "analyzers/ranks/rank_analyzers.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analyzers/diagnose/rule_texts.h"

namespace loopscope {

#define LOOPSCOPE_RANKANALYZER(stem, constant) extern const RankAnalyzer constant;
#include "analyzers/ranks/ranks.def"
#undef LOOPSCOPE_RANKANALYZER

namespace {

void Complete(Finding& finding, const RankAnalyzer& analyzer, double mean_step_ms) {
  finding.rule = analyzer.id;
  finding.advice = RuleAdvice(analyzer.id);
  finding.examples = RuleExamples(analyzer.id);
  finding.id = FindingId(analyzer.id, std::nullopt);
  finding.cost_ms_per_step = std::min(finding.cost_ms_per_step, mean_step_ms);
  finding.cost_pct = mean_step_ms > 0 ? 100 * finding.cost_ms_per_step / mean_step_ms : 0;
  finding.severity = SeverityOfShare(finding.cost_pct);
}

}  // namespace

std::span<const RankAnalyzer* const> AllRankAnalyzers() {
  static constexpr const RankAnalyzer* kAll[] = {
#define LOOPSCOPE_RANKANALYZER(stem, constant) &constant,
#include "analyzers/ranks/ranks.def"
#undef LOOPSCOPE_RANKANALYZER
      nullptr};
  return std::span(kAll).first(std::size(kAll) - 1);
}

const RankAnalyzer* FindRankAnalyzer(std::string_view id) {
  for (const RankAnalyzer* one : AllRankAnalyzers()) {
    if (one->id == id) return one;
  }
  return nullptr;
}

void DiagnoseRanks(std::span<const RankSummary> ranks, const TreatmentChoice& treatment_of, Report& report) {
  double mean_step_ms = 0;
  for (const RankSummary& rank : ranks) mean_step_ms = std::max(mean_step_ms, rank.mean_step_ms);
  for (const RankAnalyzer* analyzer : AllRankAnalyzers()) {
    RuleRow row{std::string(analyzer->id), Verdict::kClear, ""};
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
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.cost_ms_per_step > b.cost_ms_per_step;
  });
}

}  // namespace loopscope
