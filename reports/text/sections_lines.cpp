// Where the time goes by line: the costliest lines of a step and of the loader's workers, and the parts of the run.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/headline_wording.h"
#include "reports/words/step_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMost = 5;
constexpr double kLeastPct = 1;
constexpr std::size_t kNameColumn = 37, kHeadroomColumn = 24;

void WriteRow(const LineRow& row, const std::string& directory, Page& page) {
  page.Entry(kNameColumn,
             {fmt::format("  {:>9} {:>6}  {:<15} ", HumanMs(row.ms), HumanPct(row.share_pct), PhaseText(row.phase))},
             {LinePlaceText(row, directory)});
}

void WriteRows(const std::vector<LineRow>& rows, const std::string& directory, Page& page) {
  std::size_t shown = 0;
  for (; shown < std::min(kMost, rows.size()) && rows[shown].share_pct >= kLeastPct; ++shown) {
    WriteRow(rows[shown], directory, page);
  }
  double left_ms = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) left_ms += rows[i].ms;
  if (shown < rows.size() && left_ms > 0) {
    page.Line(
        {{fmt::format("  {:>9}         at {} more, in the JSON", HumanMs(left_ms), rows.size() - shown), Style::kDim}});
  }
}

// The largest lines of one occurrence.
void WriteLinesOf(std::string_view phase, const Report& report, Page& page) {
  std::size_t shown = 0;
  for (const LineRow& row : report.whole_lines) {
    if (row.phase != phase || row.share_pct < 10 || shown++ == 2) continue;
    page.Entry(kNameColumn,
               {fmt::format("  {:>9} {:>6}  of each, at ", HumanMs(row.ms), HumanPct(row.share_pct)), Style::kDim},
               {LinePlaceText(row, report.run.working_directory), Style::kDim});
  }
}

// The lines whose operators take longest beyond what their shapes need.
void WriteHeadroom(const Report& report, Page& page) {
  constexpr std::size_t kMostShown = 3;
  if (!report.headroom || report.headroom->lines.empty()) return;
  const Headroom& headroom = *report.headroom;
  page.Heading("Operators, and what their shapes need on this machine");
  page.Entry(kHeadroomColumn,
             {fmt::format("  {:>9} {:>9}  ", HumanMs(headroom.operators_ms), HumanMs(headroom.floor_ms))},
             {fmt::format("all per step, {} of it", HumanPct(100 * headroom.operators_ms / headroom.step_ms))});
  std::size_t shown = 0;
  for (const HeadroomLine& line : headroom.lines) {
    if (shown++ == kMostShown || line.above_ms() < kLeastPct / 100 * headroom.step_ms) break;
    const std::string floor = line.floor_ms ? HumanMs(*line.floor_ms) : "unknown";
    const std::string place = line.where ? PlaceText(*line.where, report.run.working_directory) + ": " : "";
    page.Entry(kHeadroomColumn, {fmt::format("  {:>9} {:>9}  ", HumanMs(line.ms), floor)},
               {place + Printable(line.what, 60)});
  }
}

}  // namespace

void WriteLines(const Report& report, Page& page) {
  if (!report.lines.empty()) {
    page.Heading("Where a step's time goes");
    WriteRows(report.lines, report.run.working_directory, page);
  }
  WriteHeadroom(report, page);
  const auto& wait_ms = report.breakdown_ms[static_cast<int>(Part::kLoaderWait)];
  if (report.worker_lines.empty() || !Known(wait_ms) || *wait_ms <= 0) return;
  page.Heading("Where a loader's worker spends its time, per batch");
  WriteRows(report.worker_lines, report.run.working_directory, page);
}

void WriteWhole(const Report& report, Page& page) {
  const std::vector<WholeRow> rows = WholeRows(report);
  if (rows.empty()) return;
  page.Heading("The run, as far as it was seen");
  for (const WholeRow& row : rows) {
    page.Line({{fmt::format("  {:<22}{:>12}  {:>6}", row.name, HumanMs(row.ms), HumanPct(row.share_pct))}});
    if (!row.phase.empty()) WriteLinesOf(row.phase, report, page);
  }
}

}  // namespace loopscope
