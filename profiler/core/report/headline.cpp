#include "profiler/core/report/headline.h"

#include <algorithm>
#include <cmath>

namespace loopscope {
namespace {

// Of the run. Less is not what limits a loop; a bound, which may bring nothing, has to promise more.
constexpr double kMinSharePct = 3, kMinBoundPct = 10;
// Of the step, in none of its known parts: above this a report that names something smaller would mislead.
constexpr double kMaxUnexplainedPct = 25;

double Finite(double value) {
  return std::isfinite(value) ? std::max(value, 0.0) : 0;
}

// Its fix was measured and brings nothing.
bool WasNoUse(const Report& report, const Finding& finding) {
  if (finding.treatment_id.empty()) return false;
  bool any = false;
  for (const TrialRow& trial : report.trials) {
    if (trial.treatment != finding.treatment_id) continue;
    if (trial.verdict != TrialVerdict::kSlower && trial.verdict != TrialVerdict::kEquivalent) return false;
    any = true;
  }
  return any;
}

// What lies outside of plain steps, in ms per step: that of the rule that knows of most.
double OutsideMs(const Report& report) {
  double most = 0;
  for (const Finding& finding : report.findings) {
    if (finding.per_epoch) most = std::max(most, Finite(finding.cost_ms_per_step));
  }
  return most;
}

bool IsBound(const Finding& finding) {
  return finding.cost_is == CostKind::kBound && !finding.expected_gain_ms;
}

const Finding* Dearest(const Report& report, bool bounds, double least_ms) {
  const Finding* dearest = nullptr;
  for (const Finding& finding : report.findings) {
    const double worth = Finite(finding.worth_ms());
    if (finding.severity == Severity::kInfo || IsBound(finding) != bounds || worth < least_ms) continue;
    if (WasNoUse(report, finding)) continue;
    if (dearest == nullptr || worth > dearest->worth_ms()) dearest = &finding;
  }
  return dearest;
}

double UnexplainedMs(const Report& report) {
  const auto& other = report.breakdown_ms[static_cast<int>(Part::kOther)];
  if (!other || !std::isfinite(*other)) return 0;
  double known = 0;
  for (const LineRow& line : report.lines) known += line.phase == PartName(Part::kOther) && line.where ? line.ms : 0;
  return std::max(0.0, *other - known);
}

Headline OfFinding(const Report& report, const Finding& finding, double run_ms) {
  Headline headline;
  headline.kind = Headline::Kind::kFinding;
  headline.finding = &finding;
  const auto placed = std::ranges::find_if(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
  if (placed != finding.evidence.end()) headline.where = placed->where;
  if (headline.where) {
    const auto line = std::ranges::find_if(report.lines, [&](const LineRow& row) {
      return row.where && row.where->path == headline.where->path && row.where->line == headline.where->line;
    });
    if (line != report.lines.end()) {
      headline.what = line->what;
      headline.library = line->library;
    }
  }
  headline.of_run = finding.per_epoch;
  headline.ms = Finite(finding.worth_ms());
  headline.share_pct = run_ms > 0 ? 100 * headline.ms / run_ms : 0;
  return headline;
}

// Most of a step in one part, and its costliest line: for a loop that no rule complains about.
Headline OfLargestPart(const Report& report, Headline::Kind kind) {
  Headline headline;
  headline.kind = kind;
  int largest = -1;
  double total = 0;
  for (int part = 0; part < kParts; ++part) {
    const std::optional<double>& ms = report.breakdown_ms[part];
    if (!ms || !std::isfinite(*ms)) continue;
    total += *ms;
    if (largest < 0 || *ms > *report.breakdown_ms[largest]) largest = part;
  }
  if (largest < 0 || total <= 0) return headline;
  headline.part = PartName(static_cast<Part>(largest));
  headline.ms = *report.breakdown_ms[largest];
  headline.share_pct = 100 * headline.ms / total;
  const auto line = std::ranges::find(report.lines, headline.part, &LineRow::phase);  // costliest first
  if (line != report.lines.end()) {
    headline.where = line->where;
    headline.library = line->library;
    headline.what = line->what;
  }
  return headline;
}

}  // namespace

Headline HeadlineOf(const Report& report) {
  if (!report.steps.mean_ms || !std::isfinite(*report.steps.mean_ms)) return {};
  const double run_ms = *report.steps.mean_ms + OutsideMs(report);
  const double unexplained_ms = UnexplainedMs(report);
  const Finding* dearest = Dearest(report, false, kMinSharePct / 100 * run_ms);
  if (dearest == nullptr) dearest = Dearest(report, true, kMinBoundPct / 100 * run_ms);
  const bool unexplained = unexplained_ms > kMaxUnexplainedPct / 100 * *report.steps.mean_ms;
  if (dearest != nullptr && !(unexplained && unexplained_ms > dearest->worth_ms())) {
    return OfFinding(report, *dearest, run_ms);
  }
  if (unexplained) {
    Headline headline;
    headline.kind = Headline::Kind::kUnexplained;
    headline.part = PartName(Part::kOther);
    headline.ms = unexplained_ms;
    headline.share_pct = 100 * unexplained_ms / run_ms;
    return headline;
  }
  const auto unsure = std::ranges::count(report.rules, Verdict::kCannotTell, &RuleRow::verdict);
  const auto judged =
      std::ssize(report.rules) - std::ranges::count(report.rules, Verdict::kNotApplicable, &RuleRow::verdict);
  return OfLargestPart(report, 2 * unsure > judged ? Headline::Kind::kUnknown : Headline::Kind::kNothing);
}

}  // namespace loopscope
