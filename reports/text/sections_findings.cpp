// The findings as a person reads them: severity, cost, what it is, where it is, what to try.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/printable.h"
#include "profiler/core/report/expected_gain.h"
#include "profiler/core/report/headline.h"
#include "reports/text/sections.h"
#include "reports/words/finding_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kWithAdvice = 3;  // the most valuable findings also say how
constexpr std::size_t kMostFindings = 40;
constexpr std::size_t kMostPlaces = 3;

Style StyleOf(Severity severity) {
  if (severity == Severity::kHigh) return Style::kRed;
  if (severity == Severity::kMedium) return Style::kYellow;
  return severity == Severity::kLow ? Style::kPlain : Style::kDim;
}

std::string CostColumns(const Finding& finding) {
  if (!(finding.cost_ms_per_step > 0) || !std::isfinite(finding.cost_ms_per_step)) return fmt::format("{:>16}", "–");
  return fmt::format("{:>8} {:>7}", HumanMs(finding.cost_ms_per_step), HumanPct(finding.cost_pct));
}

void WriteEvidence(const Finding& finding, const std::string& directory, Page& page) {
  std::size_t places = 0;
  for (const Evidence& evidence : finding.evidence) {
    if (++places > kMostPlaces) {
      page.Entry(kTextColumn, {""}, {fmt::format("… and {} more", finding.evidence.size() - kMostPlaces)});
      return;
    }
    std::string text = evidence.where ? "at " + PlaceText(evidence, directory) : "";
    if (!evidence.text.empty()) text += (text.empty() ? "" : ": ") + Printable(evidence.text, 160);
    if (!text.empty()) page.Entry(kTextColumn, {""}, {text});
  }
}

void WriteFirstPlace(const Finding& finding, const std::string& directory, Page& page) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.where) return page.Entry(kTextColumn, {""}, {"at " + PlaceText(evidence, directory)});
  }
}

// Always shown for a fix that was measured to bring nothing, whatever the finding's rank.
void WriteAdvice(const Report& report, const Finding& finding, bool in_full, Page& page) {
  const bool in_vain = MeasuredWithoutGain(report, finding);
  const std::string advice = AdviceText(report, finding);
  if ((in_full || in_vain) && !advice.empty()) page.Entry(kTextColumn, {""}, {"Fix: " + advice});
}

// A fact that costs nothing on this machine: one line.
void WriteFact(const Report& report, const Finding& finding, Page& page) {
  std::string text = Printable(finding.title, 400);
  const auto placed = std::ranges::find_if(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
  if (placed != finding.evidence.end()) text += ", at " + PlaceText(*placed, report.run.working_directory);
  page.Entry(kTextColumn, {fmt::format("  {:<7}", SeverityName(finding.severity)), Style::kDim},
             {fmt::format("{} ({})", text, Printable(finding.rule, 40)), Style::kDim});
}

bool IsFactOnly(const Report& report, const Finding& finding) {
  return finding.severity == Severity::kInfo && CostText(report, finding).empty() && TriedText(report, finding).empty();
}

void WriteFinding(const Report& report, const Finding& finding, bool in_full, Page& page) {
  if (IsFactOnly(report, finding)) return WriteFact(report, finding, page);
  const std::string& directory = report.run.working_directory;
  const std::string head = fmt::format("  {:<7} {}", SeverityName(finding.severity), CostColumns(finding));
  const std::string title =
      finding.per_epoch ? Printable(finding.title, 400) + " (outside of plain steps)" : finding.title;
  page.Entry(kTextColumn, {head, StyleOf(finding.severity)}, {title, Style::kBold});
  std::string cost = CostText(report, finding);
  if (const std::string gain = GainExpectedText(report, finding); !gain.empty()) cost += "; " + gain;
  if (!cost.empty()) page.Entry(kTextColumn, {""}, {cost, Style::kDim});
  if (in_full) {
    WriteEvidence(finding, directory, page);
  } else {
    WriteFirstPlace(finding, directory, page);
  }
  WriteAdvice(report, finding, in_full, page);
  std::string rule = Printable(finding.rule, 40);
  if (const std::string tried = TriedText(report, finding); !tried.empty()) {
    rule += "; " + tried;
  } else if (!finding.treatment_id.empty()) {
    rule += "; try " + Printable(TreatmentText(finding.treatment_id, finding.treatment), 80);
  }
  page.Entry(kTextColumn, {""}, {rule, Style::kDim});
}

}  // namespace

void WriteFindings(const Report& report, Page& page) {
  if (report.findings.empty()) return;
  page.Heading("What slows it (cost per step)");
  std::size_t shown = 0;
  for (const Finding& finding : report.findings) {
    if (shown == kMostFindings) {
      page.Entry(2, {""}, {fmt::format("… and {} more; all are in the JSON", report.findings.size() - shown)});
      return;
    }
    WriteFinding(report, finding, shown < kWithAdvice, page);
    ++shown;
  }
}

}  // namespace loopscope
