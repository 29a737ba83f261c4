#include "reports/words/cost_wording.h"

#include <fmt/format.h>

#include <cmath>

#include "profiler/core/printable.h"
#include "profiler/core/report/expected_gain.h"
#include "profiler/core/report/headline.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

bool Costs(const Finding& finding) {
  return finding.cost_ms_per_step > 0 && std::isfinite(finding.cost_ms_per_step);
}

// The trial to quote: the one beside the other fixes, if there is one.
const TrialRow* TrialOf(const Report& report, const Finding& finding) {
  const TrialRow* quoted = nullptr;
  for (const TrialRow& trial : report.trials) {
    if (trial.treatment != finding.treatment_id) continue;
    if (quoted == nullptr || trial.context == "with-others") quoted = &trial;
  }
  return quoted;
}

}  // namespace

std::string_view WorthWord(const Finding& finding) {
  if (finding.expected_gain_ms) return "about ";
  if (finding.cost_is == CostKind::kLeast) return "at least ";
  return finding.cost_is == CostKind::kBound ? "up to " : "";
}

std::string WorthShareText(const Report& report, const Finding& finding) {
  const double worth_ms = finding.worth_ms();
  const double all_ms = report.steps.mean_ms.value_or(0) + (finding.per_epoch ? worth_ms : 0);
  const double pct = all_ms > 0 ? 100 * worth_ms / all_ms : finding.cost_pct;
  return fmt::format("{}{}", WorthWord(finding), HumanPct(pct));
}

std::string_view CostKindText(const Finding& finding) {
  switch (finding.cost_is) {
    case CostKind::kBound:
      return "up to";
    case CostKind::kMeasured:
      return "measured";
    case CostKind::kLeast:
      return "at least";
    case CostKind::kExact:
      break;
  }
  return "exactly";
}

std::string CostText(const Report& report, const Finding& finding) {
  if (!Costs(finding)) return "";
  std::string text = fmt::format("{} {} per step, {}", CostKindText(finding), HumanMs(finding.cost_ms_per_step),
                                 HumanPct(finding.cost_pct));
  if (const std::string run = ShareOfRunText(report, finding); !run.empty()) text += "; " + run;
  return text;
}

std::string ShareOfRunText(const Report& report, const Finding& finding) {
  const std::optional<double> pct = ShareOfRunPct(report, finding);
  return pct ? fmt::format("{} of the run", HumanPct(*pct)) : "";
}

std::string GainExpectedText(const Report& report, const Finding& finding) {
  if (!Known(finding.expected_gain_ms) || *finding.expected_gain_ms <= 0) return "";
  std::string text = fmt::format("expected gain {} per step", HumanMs(*finding.expected_gain_ms));
  if (!Known(report.steps.mean_ms) || *report.steps.mean_ms <= 0) return text;
  return text + fmt::format(", {}", HumanPct(100 * *finding.expected_gain_ms / *report.steps.mean_ms));
}

std::string AdviceText(const Report& report, const Finding& finding) {
  const TrialRow* const trial = MeasuredWithoutGain(report, finding) ? TrialOf(report, finding) : nullptr;
  if (trial == nullptr) return Printable(finding.advice, 500);
  const std::string speedup = Known(trial->speedup) ? " " + HumanSpeedup(*trial->speedup, std::nullopt) : "";
  const bool same = trial->verdict == TrialVerdict::kEquivalent;
  std::string text = fmt::format("measured: {}{}, {}.", Printable(TreatmentText(trial->treatment, trial->value), 80),
                                 speedup, same ? "no gain" : "do not");
  return finding.advice.empty() ? text : text + " What else there is: " + Printable(finding.advice, 500);
}

}  // namespace loopscope
