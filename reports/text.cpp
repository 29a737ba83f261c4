// The report for a person at a terminal: what limits the loop first, what to do about it, then how far to trust it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/core/format.h"
#include "reports/printable.h"
#include "reports/text_sections.h"
#include "reports/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kLabel = 11;  // column where the headline's texts begin

bool Known(const std::optional<double>& value) {
  return value && std::isfinite(*value);
}

std::string RunFacts(const RunInfo& run) {
  std::vector<std::string> facts;
  if (!run.started.empty()) facts.push_back(run.started);
  if (!run.cpu.empty()) facts.push_back(run.cpu);
  if (run.cores > 0) facts.push_back(fmt::format("{} core{}", run.cores, run.cores == 1 ? "" : "s"));
  for (const std::string& gpu : run.gpus) facts.push_back(gpu);
  if (run.ranks > 1) facts.push_back(fmt::format("{} ranks", run.ranks));
  for (const auto& [name, version] : run.versions) {
    if (name != "kernel") facts.push_back(name + " " + version);  // in the JSON; too long for a headline
  }
  return fmt::format("{}", fmt::join(facts, ", "));
}

// The part of the step that takes most, for a loop that no rule complains about.
std::string LargestPart(const Report& report) {
  int largest = -1;
  double total = 0;
  for (int part = 0; part < kParts; ++part) {
    if (!Known(report.breakdown_ms[part])) continue;
    total += *report.breakdown_ms[part];
    if (largest < 0 || *report.breakdown_ms[part] > *report.breakdown_ms[largest]) largest = part;
  }
  if (largest < 0 || total <= 0) return "";
  std::string name(PartName(static_cast<Part>(largest)));
  std::ranges::replace(name, '_', ' ');
  return fmt::format("; most of a step is {}, {}", name, HumanPct(100 * *report.breakdown_ms[largest] / total));
}

std::string WhatLimits(const Report& report) {
  if (!Known(report.steps.mean_ms)) return "No step could be measured: see the warnings below.";
  const auto cost = [](const Finding& one) { return std::isfinite(one.cost_ms_per_step) ? one.cost_ms_per_step : 0; };
  const auto costliest = std::ranges::max_element(report.findings, {}, cost);
  if (costliest == report.findings.end() || cost(*costliest) <= 0) {
    return "No rule found anything that costs this loop time" + LargestPart(report) + ".";
  }
  return fmt::format("{} ({}): up to {} of each {} step.", Printable(costliest->title, 200),
                     Printable(costliest->rule, 40), HumanMs(costliest->cost_ms_per_step),
                     HumanMs(*report.steps.mean_ms));
}

Style StyleOf(const std::optional<std::array<double, 2>>& ci95) {
  if (!ci95 || ((*ci95)[0] <= 1 && (*ci95)[1] >= 1)) return Style::kPlain;
  return (*ci95)[0] > 1 ? Style::kGreen : Style::kRed;
}

std::string GainText(const CombinedRow& all) {
  const std::size_t fixes = all.treatments.size();
  return fmt::format("{} with {} fix{}, 95% CI, n={}", HumanSpeedup(*all.speedup, all.ci95), fixes,
                     fixes == 1 ? "" : "es together", all.n);
}

void WriteGain(const Report& report, Page& page) {
  constexpr Span kMeasured = {"Measured", Style::kBold};
  if (report.combined && Known(report.combined->speedup)) {
    page.Entry(kLabel, kMeasured, {GainText(*report.combined), StyleOf(report.combined->ci95)});
  } else if (report.combined && !report.combined->reason.empty()) {
    page.Entry(kLabel, kMeasured, {"no combined speedup: " + Printable(report.combined->reason)});
  } else if (report.trials.size() == 1 && Known(report.trials.front().speedup)) {
    const TrialRow& only = report.trials.front();
    const std::string text = HumanSpeedup(*only.speedup, only.ci95) + ", 95% CI: " + Printable(only.verdict, 60);
    page.Entry(kLabel, kMeasured, {text, StyleOf(only.ci95)});
  }
}

std::string StepText(const StepFacts& steps) {
  std::string text = fmt::format("{} on average over {} steps", HumanMs(*steps.mean_ms), steps.measured);
  if (Known(steps.p50_ms) && Known(steps.p95_ms)) {
    text += fmt::format(" (p50 {}, p95 {})", HumanMs(*steps.p50_ms), HumanMs(*steps.p95_ms));
  }
  if (Known(steps.samples_per_s)) text += fmt::format(", {} samples/s", HumanCount(*steps.samples_per_s));
  return text;
}

// A bar of `share` (0 … 1) of `columns`, to an eighth of a column.
std::string Bar(double share, int columns) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns * 8));
  std::string bar;
  for (int column = 0; column < eighths / 8; ++column) bar += "█";
  return bar.append(kEighths[eighths % 8]);
}

int DecimalsFor(double ms) {
  return ms >= 1000 ? 0 : ms >= 10 ? 1 : ms >= 1 ? 2 : 3;
}

void WriteBreakdown(const Report& report, Page& page) {
  std::vector<int> parts;
  std::vector<double> lengths_ms;
  for (int part = 0; part < kParts; ++part) {
    const std::optional<double>& ms = report.breakdown_ms[part];
    if (!Known(ms) || *ms <= 0 || *ms > 1e9) continue;
    parts.push_back(part);
    lengths_ms.push_back(*ms);
  }
  const double total = std::accumulate(lengths_ms.begin(), lengths_ms.end(), 0.0);
  if (parts.empty()) return;
  std::vector<double> shares_pct;
  for (const double length_ms : lengths_ms) shares_pct.push_back(100 * length_ms / total);
  const std::vector<std::string> texts = RoundedToSum(lengths_ms, DecimalsFor(total));
  const std::vector<std::string> pct_texts = RoundedToSum(shares_pct, 1);
  for (std::size_t row = 0; row < parts.size(); ++row) {
    std::string name(PartName(static_cast<Part>(parts[row])));
    std::ranges::replace(name, '_', ' ');
    page.Line({{fmt::format("  {:<22}{:>9} ms  {:>5} %  ", name, texts[row], pct_texts[row])},
               {Bar(shares_pct[row] / 100, std::max(static_cast<int>(page.columns()) - 47, 0)), Style::kDim}});
  }
  if (!report.breakdown_ms[static_cast<int>(Part::kLoaderWait)]) {
    page.Line({{"  loader wait             unknown: the loader could not be seen"}});
  }
}

Result<void> WriteText(const Report& report, Output& output) {
  Page page(output);
  WriteHeadline(report, page);
  WriteSteps(report, page);
  WriteFindings(report, page);
  WriteTrials(report, page);
  WriteTrust(report, page);
  WriteNext(report, page);
  return {};
}

}  // namespace

void WriteHeadline(const Report& report, Page& page) {
  page.Entry(kLabel, {"Loopscope", Style::kBold}, {ShellQuoted(report.run.command, 240)});
  const std::string facts = Printable(RunFacts(report.run), 300);
  if (!facts.empty()) page.Entry(kLabel, {""}, {facts, Style::kDim});
  page.Blank();
  WriteGain(report, page);
  const bool diagnosed = Known(report.steps.mean_ms) || report.trials.empty();
  if (diagnosed) page.Entry(kLabel, {"Diagnosis", Style::kBold}, {WhatLimits(report)});
}

void WriteSteps(const Report& report, Page& page) {
  if (!Known(report.steps.mean_ms)) return;
  page.Heading("A training step");
  page.Entry(2, {""}, {StepText(report.steps)});
  WriteBreakdown(report, page);
  if (Known(report.steps.per_epoch_ms)) {
    page.Entry(2, {""}, {fmt::format("An epoch boundary takes {} more.", HumanMs(*report.steps.per_epoch_ms))});
  }
}

std::string TreatmentText(std::string_view key, std::string_view value) {
  if (value.empty()) return std::string(key);
  return fmt::format("{}={}", key, value);
}

extern const Format kText;
const Format kText = {"text", WriteText};

}  // namespace loopscope
