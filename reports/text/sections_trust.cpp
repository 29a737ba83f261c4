// How far to trust the report, and what to run next.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kRuleColumn = 27;
constexpr std::size_t kMostWarnings = 20;

void WriteRulesWith(Verdict verdict, std::string_view label, const Report& report, Page& page) {
  std::vector<std::string> ids;
  for (const RuleRow& rule : report.rules) {
    if (rule.verdict == verdict) ids.push_back(Printable(rule.id, 40));
  }
  if (ids.empty()) return;
  page.Entry(2, {""}, {fmt::format("{}: {}", label, fmt::join(ids, ", ")), Style::kDim});
}

// A reason that several rules share is given once.
void WriteUndecided(const Report& report, Page& page) {
  constexpr std::size_t kFewRules = 2, kMostNamed = 16;
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const RuleRow& rule : report.rules) {
    if (rule.verdict != Verdict::kCannotTell) continue;
    const std::string reason = Printable(rule.reason);
    auto known = std::ranges::find(by_reason, reason, [](const auto& one) { return one.first; });
    if (known == by_reason.end()) known = by_reason.insert(known, {reason, {}});
    known->second.push_back(Printable(rule.id, 40));
  }
  for (const auto& [reason, ids] : by_reason) {
    if (ids.size() > kMostNamed) {
      page.Entry(2, {""}, {fmt::format("Cannot tell ({}): {} of {} rules", reason, ids.size(), report.rules.size())});
      continue;
    }
    if (ids.size() > kFewRules) {
      page.Entry(2, {""}, {fmt::format("Cannot tell ({}): {}", reason, fmt::join(ids, ", "))});
      continue;
    }
    for (const std::string& id : ids) page.Entry(kRuleColumn, {"  " + id}, {"cannot tell: " + reason});
  }
}

// Rules that found nothing and have a figure to show for it.
void WriteMeasuredClear(const Report& report, Page& page) {
  for (const RuleRow& rule : report.rules) {
    if (rule.verdict != Verdict::kClear || rule.reason.empty()) continue;
    page.Entry(kRuleColumn, {"  " + Printable(rule.id, 40)}, {"not found: " + Printable(rule.reason)});
  }
}

// Broken between arguments as a shell continues a line, so that it can be pasted.
void WriteCommand(const std::vector<std::string>& command, Page& page) {
  std::string line = " ";
  for (const std::string& argument : command) {
    const std::string word = ShellQuoted({argument}, page.columns() - 8);
    if (DisplayWidth(line) + DisplayWidth(word) + 3 > page.columns()) {
      page.Line({{line + " \\", Style::kBold}});
      line = "     ";
    }
    line += " " + word;
  }
  page.Line({{line, Style::kBold}});
}

}  // namespace

void WriteTrust(const Report& report, Page& page) {
  page.Heading("How far to trust this");
  // Timed launches alone record no events.
  const bool diagnosed = report.quality.events > 0 || report.trials.empty();
  if (diagnosed) page.Entry(2, {""}, {DataText(report.quality)});
  std::size_t shown = 0;
  for (const Warning& warning : report.quality.warnings) {
    if (shown == kMostWarnings) {
      page.Entry(2, {""}, {fmt::format("… and {} more warnings", report.quality.warnings.size() - shown)});
      break;
    }
    page.Entry(4, {"  !", Style::kYellow}, {warning.text, Style::kYellow});
    ++shown;
  }
  WriteUndecided(report, page);
  WriteMeasuredClear(report, page);
  WriteRulesWith(Verdict::kClear, "Looked for and not found", report, page);
  WriteRulesWith(Verdict::kNotApplicable, "Not applicable here", report, page);
}

void WriteNext(const Report& report, Page& page) {
  const NextStep next = NextOf(report);
  if (next.command.empty()) return;
  page.Heading("Next");
  WriteCommand(next.command, page);
  page.Entry(4, {""}, {next.what});
}

}  // namespace loopscope
