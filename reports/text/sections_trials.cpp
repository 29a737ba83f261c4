// The trials as a person reads them: what each fix was measured to bring, whether training stayed the same, at what
// noise.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/finding_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

Style StyleOf(const TrialRow& trial) {
  switch (trial.verdict) {
    case TrialVerdict::kFaster:
    case TrialVerdict::kUseful:
      return Style::kGreen;
    case TrialVerdict::kSlower:
    case TrialVerdict::kDifferentTraining:
    case TrialVerdict::kFailed:
      return Style::kRed;
    default:
      return Style::kDim;
  }
}

void WriteTrial(const TrialRow& trial, const NoiseFacts& noise, Page& page) {
  const Style style = StyleOf(trial);
  const std::string name = "  " + TreatmentText(trial.treatment, trial.value);
  const bool measured = Known(trial.speedup);
  if (measured) page.Entry(kTextColumn, {name, style}, {SpeedupText(trial)});
  page.Entry(kTextColumn, {measured ? std::string_view() : name, style}, {VerdictText(trial, noise), style});
  const std::string checks = ChecksText(trial);
  if (!checks.empty()) page.Entry(kTextColumn, {""}, {checks, Style::kDim});
}

void WriteCombined(const CombinedRow& combined, Page& page) {
  page.Blank();
  if (!Known(combined.speedup)) {
    return page.Entry(kTextColumn, {"  together", Style::kBold},
                      {combined.reason.empty() ? "not measured" : "not measured: " + Printable(combined.reason)});
  }
  std::string text = HumanSpeedup(*combined.speedup, combined.ci95) + fmt::format(", 95% CI, n={}", combined.n);
  if (!combined.method.empty()) text += ", " + combined.method;
  page.Entry(kTextColumn, {"  together", Style::kBold}, {text, Style::kBold});
  page.Entry(kTextColumn, {""}, {fmt::format("{}", fmt::join(combined.treatments, ", "))});
  if (!combined.reason.empty()) page.Entry(kTextColumn, {""}, {combined.reason});
}

void WriteNoise(const Report& report, Page& page) {
  std::string text = "Intervals are 95 % each, unadjusted; p values are Holm's over all planned comparisons.";
  if (Known(report.noise.pair_sd_pct)) {
    const bool live = std::ranges::any_of(report.trials, [](const TrialRow& one) { return one.method == "live"; });
    text += fmt::format(" A pair of {} differs by {} (SD)", live ? "blocks of steps" : "launches",
                        HumanPct(*report.noise.pair_sd_pct));
    text += Known(report.noise.detectable_pct)
                ? fmt::format("; {} could be detected.", HumanPct(*report.noise.detectable_pct))
                : ".";
  }
  page.Entry(2, {""}, {text, Style::kDim});
}

}  // namespace

void WriteTrials(const Report& report, Page& page) {
  if (report.trials.empty()) return;
  page.Heading("What each fix was measured to bring");
  for (const TrialEntry& one : TrialEntries(report)) {
    WriteTrial(report.trials[one.shown], report.noise, page);
    if (!one.other.empty()) page.Entry(kTextColumn, {""}, {one.other, Style::kDim});
  }
  if (report.combined) WriteCombined(*report.combined, page);
  page.Blank();
  WriteNoise(report, page);
}

}  // namespace loopscope
