// The report for a person at a terminal: what limits the loop first, what to do about it, then how far to trust it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/core/format.h"
#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/finding_wording.h"
#include "reports/words/headline_wording.h"
#include "reports/words/step_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kLabel = 11;  // column where the headline's texts begin

Style StyleOf(const std::optional<std::array<double, 2>>& ci95) {
  if (!ci95 || ((*ci95)[0] <= 1 && (*ci95)[1] >= 1)) return Style::kPlain;
  return (*ci95)[0] > 1 ? Style::kGreen : Style::kRed;
}

void WriteGain(const Report& report, Page& page) {
  constexpr Span kMeasured = {"Measured", Style::kBold};
  if (report.combined && Known(report.combined->speedup)) {
    page.Entry(kLabel, kMeasured, {GainText(*report.combined), StyleOf(report.combined->ci95)});
  } else if (report.combined && !report.combined->reason.empty()) {
    page.Entry(kLabel, kMeasured, {"no combined speedup: " + Printable(report.combined->reason)});
  } else if (report.trials.size() == 1 && Known(report.trials.front().speedup)) {
    const TrialRow& only = report.trials.front();
    const std::string text = HumanSpeedup(*only.speedup, only.ci95) + (only.ci95 ? ", 95% CI: " : ": ") +
                             std::string(TrialVerdictName(only.verdict));
    page.Entry(kLabel, kMeasured, {text, StyleOf(only.ci95)});
  }
}

void WriteMost(const std::vector<std::string>& most, Page& page) {
  for (const std::string& one : most) page.Entry(kLabel + 2, {std::string(kLabel, ' ') + "-"}, {one});
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
    page.Line({{"  loader wait             no loader seen: data made in the loop is in \"other\""}});
  }
}

Result<void> WriteText(const Report& report, Output& output) {
  Page page(output);
  if (report.compare) {
    WriteComparison(*report.compare, page);
    return {};
  }
  if (report.gate) {
    WriteGate(report, page);
    return {};
  }
  if (report.sweep) {
    WriteSweep(report, page);
    return {};
  }
  WriteHeadline(report, page);
  WriteTrials(report, page);
  WriteTarget(report, page);
  WriteFindings(report, page);
  WriteSteps(report, page);
  WriteGpu(report, page);
  WriteCollectives(report, page);
  WriteRanks(report, page);
  WriteTrust(report, page);
  WriteNext(report, page);
  return {};
}

}  // namespace

void WriteHeadline(const Report& report, Page& page) {
  page.Entry(kLabel, {"Loopscope", Style::kBold}, {ShellQuoted(report.run.command, 240)});
  const std::string facts = Printable(RunText(report.run), 300);
  if (!facts.empty()) page.Entry(kLabel, {""}, {facts, Style::kDim});
  page.Blank();
  WriteGain(report, page);
  // For a single pair of commands the gain is shown already; the first of the findings is the diagnosis.
  const std::vector<std::string> gains = LargestGains(report);
  if (report.combined) WriteMost(gains, page);
  const bool diagnosed = Known(report.steps.mean_ms) || report.trials.empty();
  if (diagnosed) page.Entry(kLabel, {"Diagnosis", Style::kBold}, {HeadlineText(report)});
  if (gains.empty()) WriteMost(CostliestFindings(report), page);
}

void WriteSteps(const Report& report, Page& page) {
  if (!Known(report.steps.mean_ms)) return;
  page.Heading("A training step");
  if (const std::string clock = ClockText(report.steps); !clock.empty()) page.Entry(2, {""}, {clock});
  page.Entry(2, {""}, {StepText(report.steps)});
  if (const std::string trend = TrendText(report.steps); !trend.empty()) page.Entry(2, {""}, {trend});
  WriteBreakdown(report, page);
  if (const std::string epoch = EpochText(report); !epoch.empty()) page.Entry(2, {""}, {epoch});
  WriteLines(report, page);
  WriteWhole(report, page);
}

extern const Format kText = {"text", "the report for a terminal", WriteText};

}  // namespace loopscope
