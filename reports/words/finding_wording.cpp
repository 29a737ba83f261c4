#include "reports/words/finding_wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "profiler/core/printable.h"
#include "profiler/core/report/expected_gain.h"
#include "profiler/core/report/headline.h"
#include "profiler/core/report/unexplained.h"
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

namespace {

// Prefers a measured trial, then the one with the other fixes.
int Rank(const TrialRow& trial) {
  return (Known(trial.speedup) ? 2 : 0) + (trial.context == "with-others" ? 1 : 0);
}

std::string OtherText(const TrialRow& trial) {
  if (!Known(trial.speedup)) return "";
  return fmt::format("{} {}", trial.context == "with-others" ? "with others" : "alone",
                     HumanSpeedup(*trial.speedup, trial.ci95));
}

}  // namespace

std::vector<TrialEntry> TrialEntries(const Report& report) {
  std::vector<TrialEntry> entries;
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const TrialRow& trial = report.trials[i];
    const auto same = std::ranges::find_if(entries, [&](const TrialEntry& one) {
      const TrialRow& other = report.trials[one.shown];
      return other.treatment == trial.treatment && other.value == trial.value && other.context != trial.context;
    });
    if (same == entries.end()) {
      entries.push_back({i, ""});
    } else if (Rank(trial) > Rank(report.trials[same->shown])) {
      *same = {i, OtherText(report.trials[same->shown])};
    } else {
      same->other = OtherText(trial);
    }
  }
  return entries;
}

std::string AlsoText(const TrialEntry& entry) {
  return entry.other.empty() ? "" : "; " + entry.other;
}

namespace {

constexpr std::size_t kMost = 3;

// ", loop.cpp:120 in TrainEpoch"; empty when no place is known.
std::string BehindComma(const Finding& finding, const Report& report) {
  const auto placed = std::ranges::find_if(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
  if (placed == finding.evidence.end()) return "";
  return ", " + PlaceText(*placed, report.run.working_directory);
}

// Each treatment that helped, once: with the others where that was measured, else alone; largest gain first.
std::vector<const TrialRow*> Gains(const Report& report) {
  std::vector<const TrialRow*> gains;
  for (const TrialRow& trial : report.trials) {
    if (trial.verdict != TrialVerdict::kFaster || !Known(trial.speedup)) continue;
    const auto same =
        std::ranges::find_if(gains, [&](const TrialRow* one) { return one->treatment == trial.treatment; });
    if (same == gains.end()) {
      gains.push_back(&trial);
    } else if (trial.context == "with-others") {
      *same = &trial;
    }
  }
  std::ranges::stable_sort(gains, std::greater(), [](const TrialRow* trial) { return *trial->speedup; });
  return gains;
}

std::string GainLine(const TrialRow& trial, const Report& report) {
  const std::string gain = fmt::format("{} by {}", HumanSpeedup(*trial.speedup, trial.ci95),
                                       Printable(TreatmentText(trial.treatment, trial.value), 80));
  for (const std::string& rule : trial.rules) {
    const auto found = std::ranges::find(report.findings, rule, &Finding::rule);
    if (found != report.findings.end()) return gain + BehindComma(*found, report);
  }
  return gain;
}

std::vector<const Finding*> Costly(const Report& report) {
  std::vector<const Finding*> costly;
  const Finding* const led = HeadlineOf(report).finding;
  for (const Finding& finding : report.findings) {
    const bool costs = finding.worth_ms() > 0 && std::isfinite(finding.worth_ms());
    const bool counts = costs && finding.severity > Severity::kInfo;  // as in the headline
    if (counts && &finding != led && !Refuted(report, finding)) costly.push_back(&finding);
  }
  std::ranges::stable_sort(costly, [](const Finding* one, const Finding* other) { return GainsMore(*one, *other); });
  return costly;
}

std::string CostLine(const Finding& finding, const Report& report) {
  return fmt::format("{} of a step{}: {}{}", WorthShareText(report, finding),
                     finding.per_epoch ? ", outside of plain ones" : "", Printable(finding.title, 160),
                     BehindComma(finding, report));
}

}  // namespace

std::vector<std::string> LargestGains(const Report& report) {
  std::vector<std::string> lines;
  for (const TrialRow* trial : Gains(report)) {
    if (lines.size() < kMost) lines.push_back(GainLine(*trial, report));
  }
  return lines;
}

std::vector<std::string> CostliestFindings(const Report& report) {
  std::vector<std::string> lines;
  for (const Finding* finding : Costly(report)) {
    if (lines.size() + 1 < kMost) lines.push_back(CostLine(*finding, report));
  }
  return lines;
}

}  // namespace loopscope
