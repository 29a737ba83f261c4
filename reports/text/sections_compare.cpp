// What changed from one run to another, for a person at a terminal.
#include <fmt/format.h>

#include <cmath>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostOps = 20, kMostLines = 12, kOpColumn = 48;

std::string FromTo(const std::optional<double>& before, const std::optional<double>& after) {
  const auto shown = [](const std::optional<double>& ms) { return Known(ms) ? HumanMs(*ms) : std::string("–"); };
  return fmt::format("{:>9} -> {:>9}", shown(before), shown(after));
}

std::string Change(const std::optional<double>& before, const std::optional<double>& after) {
  if (!Known(before) || !Known(after) || *before <= 0) return "";
  const double pct = 100 * (*after - *before) / *before;
  return fmt::format("{}{}", pct > 0 ? "+" : "", HumanPct(pct));
}

Style StyleOf(const std::optional<double>& before, const std::optional<double>& after) {
  if (!Known(before) || !Known(after) || *before <= 0) return Style::kPlain;
  const double ratio = *after / *before;
  return ratio > 1.02 ? Style::kRed : ratio < 0.98 ? Style::kGreen : Style::kPlain;
}

void WriteLine(const std::string& name, const std::optional<double>& before, const std::optional<double>& after,
               Page& page) {
  if (!Known(before) && !Known(after)) return;
  page.Line(
      {{fmt::format("  {:<22}{}  ", name, FromTo(before, after))}, {Change(before, after), StyleOf(before, after)}});
}

template <class Texts, class Text>
void WriteList(const Texts& texts, Span head, Page& page, Text text) {
  std::size_t shown = 0;
  for (const auto& one : texts) {
    if (shown++ == kMostLines) {
      page.Entry(4, {""}, {fmt::format("… and {} more, in the JSON", texts.size() - kMostLines)});
      return;
    }
    page.Entry(4, head, {Printable(text(one), 300)});
  }
}

void WriteStep(const Comparison& comparison, Page& page) {
  page.Heading("A training step");
  WriteLine("step", comparison.before_ms, comparison.after_ms, page);
  WriteLine("per sample", comparison.before_sample_ms, comparison.after_sample_ms, page);
  for (int part = 0; part < kParts; ++part) {
    const auto &before = comparison.parts_before_ms[part], &after = comparison.parts_after_ms[part];
    if (before.value_or(0) <= 0 && after.value_or(0) <= 0) continue;
    WriteLine("  " + PartText(static_cast<Part>(part)), before, after, page);
  }
}

void WriteOps(const Comparison& comparison, Page& page) {
  page.Heading("Ops and kernels (time of their own per step)");
  if (!comparison.why_no_ops.empty()) return page.Entry(2, {""}, {"Not compared: " + comparison.why_no_ops + "."});
  if (comparison.ops.empty()) page.Entry(2, {""}, {"None changed by 1 % of a step."});
  std::size_t shown = 0;
  for (const OpChange& op : comparison.ops) {
    if (shown++ == kMostOps) break;
    const double change_ms = op.after_ms - op.before_ms;
    const std::string head = fmt::format("  {:<9}{} {:>10} ", op.change, FromTo(op.before_ms, op.after_ms),
                                         (change_ms > 0 ? "+" : "-") + HumanMs(std::abs(change_ms)));
    const bool worse = change_ms > 0;
    std::string text = Printable(op.name, 120) + (op.device ? " (GPU)" : "");
    if (op.before_count != op.after_count)
      text += fmt::format(", {:.4g} -> {:.4g} times", op.before_count, op.after_count);
    page.Entry(kOpColumn, {head, worse ? Style::kRed : Style::kGreen}, {text});
  }
  const std::size_t left = comparison.ops.size() - std::min(comparison.ops.size(), kMostOps) +
                           static_cast<std::size_t>(comparison.ops_left_out);
  if (left > 0) page.Entry(2, {""}, {fmt::format("… and {} smaller changes, in the JSON", left)});
}

void WriteFindingChanges(const Comparison& comparison, Page& page) {
  if (comparison.new_findings.empty() && comparison.gone_findings.empty()) return;
  page.Heading("Findings");
  const auto text = [](const FindingName& one) { return Printable(one.rule, 40) + ": " + one.title; };
  WriteList(comparison.new_findings, {"  +", Style::kRed}, page, text);
  WriteList(comparison.gone_findings, {"  -", Style::kGreen}, page, text);
}

}  // namespace

void WriteComparison(const Comparison& comparison, Page& page) {
  page.Entry(11, {"Loopscope", Style::kBold}, {"compare " + ShellQuoted({comparison.before, comparison.after})});
  page.Blank();
  page.Entry(11, {"Step", Style::kBold},
             {ComparisonText(comparison), StyleOf(comparison.before_ms, comparison.after_ms)});
  const auto same = [](const std::string& one) { return one; };
  if (!comparison.obstacles.empty()) {
    page.Heading("Not comparable as they are");
    WriteList(comparison.obstacles, {"  !", Style::kYellow}, page, same);
  }
  WriteStep(comparison, page);
  WriteOps(comparison, page);
  WriteFindingChanges(comparison, page);
  if (!comparison.differences.empty()) {
    page.Heading("What else differs");
    WriteList(comparison.differences, {"  -"}, page, same);
  }
  page.Blank();
  page.Entry(2, {""},
             {"One run each: a change may be noise. `loopscope ab 'CMD_A' -- CMD_B` measures it with an interval.",
              Style::kDim});
}

}  // namespace loopscope
