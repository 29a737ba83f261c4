// A sweep's grid and what its best cell is worth, and times to a target, for a person at a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/experiment_wording.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostRuns = 40;

void WriteCell(const SweepFacts& sweep, const SweepCell& cell, std::size_t column, Page& page) {
  const bool best = cell.verdict == CellVerdict::kBest;
  const Style style = best ? Style::kGreen : Known(cell.ms) ? Style::kPlain : Style::kDim;
  std::string text = CellTimeText(sweep, cell);
  if (const std::string ratio = CellRatioText(cell); !ratio.empty()) text += "  " + ratio;
  if (const std::string note = CellNoteText(cell); !note.empty()) text += "  " + note;
  page.Entry(column, {"  " + CellText(sweep, cell), style}, {text, style});
}

void WriteGrid(const SweepFacts& sweep, Page& page) {
  page.Heading(sweep.loader_only ? "The grid, of the loader alone" : "The grid");
  std::size_t widest = 0;
  for (const SweepCell& cell : sweep.cells) widest = std::max(widest, CellText(sweep, cell).size());
  const std::size_t column = std::min<std::size_t>(widest + 4, 44);
  for (const SweepCell& cell : sweep.cells) WriteCell(sweep, cell, column, page);
  page.Entry(2, {""}, {"Medians; the factor is the time over the best cell's, with its 95 % interval.", Style::kDim});
}

}  // namespace

void WriteSweep(const Report& report, Page& page) {
  const SweepFacts& sweep = *report.sweep;
  page.Entry(kLabelColumn, {"Loopscope", Style::kBold}, {ShellQuoted(report.run.command, 240)});
  const std::string facts = Printable(RunText(report.run), 300);
  if (!facts.empty()) page.Entry(kLabelColumn, {""}, {facts, Style::kDim});
  page.Blank();
  page.Entry(kLabelColumn, {"Sweep", Style::kBold},
             {SweepHeadline(sweep), sweep.stands_out ? Style::kGreen : Style::kPlain});
  WriteGrid(sweep, page);
  if (!sweep.comparisons.empty()) page.Heading("The quickest cell on fresh launches");
  for (const SweepComparison& one : sweep.comparisons) {
    const Style style = one.verdict == TrialVerdict::kFaster ? Style::kGreen : Style::kPlain;
    page.Entry(4, {"  -"}, {SweepComparisonText(sweep, one), style});
  }
  for (const std::string& note : sweep.notes) page.Entry(2, {""}, {Printable(note, 500), Style::kDim});
  for (const Warning& warning : report.quality.warnings) {
    page.Entry(4, {"  !", Style::kYellow}, {Printable(warning.text, 400), Style::kYellow});
  }
}

void WriteTarget(const Report& report, Page& page) {
  if (!report.target) return;
  const TargetFacts& facts = *report.target;
  page.Heading("Time to the target");
  page.Entry(2, {""}, {TargetHeadline(facts)});
  for (const TargetArm& arm : facts.arms) {
    page.Entry(27, {"  " + Printable(arm.name, 60)}, {TargetArmText(arm)});
    std::size_t shown = 0;
    for (const TargetRun& run : arm.runs) {
      if (run.reached || shown++ == kMostRuns) continue;
      std::string text = fmt::format("seed {}: {}", run.block + 1, Printable(run.status, 120));
      if (Known(run.last)) text += fmt::format(" (came to {:.4g})", *run.last);
      page.Entry(27, {""}, {text, Style::kDim});
    }
  }
  for (const TargetComparison& one : facts.comparisons) {
    page.Entry(27, {"  " + Printable(one.name, 60), Style::kBold}, {TargetComparisonText(one)});
  }
}

}  // namespace loopscope
