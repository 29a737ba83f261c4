// The trials as a person reads them: what each fix was measured to bring, whether training stayed the same, at what
// noise.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reports/printable.h"
#include "reports/text_sections.h"
#include "reports/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kTextColumn = 27;

bool Known(const std::optional<double>& value) {
  return value && std::isfinite(*value);
}

Style StyleOf(const TrialRow& trial) {
  if (trial.verdict == "faster" || trial.verdict == "useful") return Style::kGreen;
  if (trial.verdict == "slower" || trial.verdict == "different-training" || trial.verdict == "failed") {
    return Style::kRed;
  }
  return Style::kDim;
}

// "1.42x [1.37, 1.47], 95% CI, n=12, Holm p=0.002"
std::string SpeedupText(const TrialRow& trial) {
  if (!Known(trial.speedup)) return "not measured";
  std::string text = HumanSpeedup(*trial.speedup, trial.ci95);
  if (trial.ci95) text += ", 95% CI";
  text += fmt::format(", n={}", trial.n);
  if (Known(trial.p_holm)) {
    const std::string p = HumanP(*trial.p_holm);
    text += p.starts_with('<') ? ", Holm p" + p : ", Holm p=" + p;
  }
  return text;
}

std::string VerdictText(const TrialRow& trial, const NoiseFacts& noise) {
  std::string text = trial.verdict;
  if (text == "equivalent" && Known(trial.margin_pct)) {
    text += fmt::format(" within ±{:.3g} %", *trial.margin_pct);
  } else if (text == "inconclusive") {
    const std::optional<double>& detectable = Known(trial.detectable_pct) ? trial.detectable_pct : noise.detectable_pct;
    if (Known(detectable)) text += fmt::format(" (could detect {})", HumanPct(*detectable));
  } else {
    std::ranges::replace(text, '-', ' ');
  }
  if (trial.metric == "epoch-boundary") text += " at epoch boundaries";
  if (trial.metric == "peak-memory") text += ", judged by peak memory";
  if (Known(trial.speedup) && trial.context == "with-others") text += ", beside the other fixes";
  if (Known(trial.speedup) && trial.context == "alone") text += ", alone";
  return trial.reason.empty() ? text : text + ": " + Printable(trial.reason, 300);
}

std::string SamenessText(const TrialRow& trial) {
  if (trial.loss.verdict.empty()) return "";
  std::string text = "training: " + Printable(trial.loss.verdict, 200);
  return trial.exactness.empty() ? text : text + " (" + Printable(trial.exactness, 40) + ")";
}

std::string MemoryText(const TrialRow& trial) {
  if (!Known(trial.peak_bytes_baseline) || !Known(trial.peak_bytes_treated)) return "";
  return fmt::format("peak memory {}, was {}", HumanBytes(*trial.peak_bytes_treated),
                     HumanBytes(*trial.peak_bytes_baseline));
}

std::string AppliedText(const TrialRow& trial) {
  const auto changed = [](const Applied& one) { return one.flags == 0; };
  const auto first = std::ranges::find_if(trial.applied, changed);
  if (first == trial.applied.end()) return "";
  std::string text = fmt::format("changed {}: {} -> {}", Printable(first->where, 80), Printable(first->old_value, 30),
                                 Printable(first->new_value, 30));
  const auto places = std::ranges::count_if(trial.applied, changed);
  return places == 1 ? text : text + fmt::format(" (and {} more)", places - 1);
}

std::string ChecksText(const TrialRow& trial) {
  std::vector<std::string> checks = {SamenessText(trial), MemoryText(trial), AppliedText(trial)};
  if (Known(trial.one_time_cost_s) && *trial.one_time_cost_s > 0) {
    checks.push_back("costs " + HumanMs(1000 * *trial.one_time_cost_s) + " once");
  }
  std::erase(checks, "");
  return fmt::format("{}", fmt::join(checks, "; "));
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
    text += fmt::format(" A pair of launches differs by {} (SD)", HumanPct(*report.noise.pair_sd_pct));
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
  for (const TrialRow& trial : report.trials) WriteTrial(trial, report.noise, page);
  if (report.combined) WriteCombined(*report.combined, page);
  page.Blank();
  WriteNoise(report, page);
}

}  // namespace loopscope
