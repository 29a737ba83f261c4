// Where a step's time goes by line: the five costliest lines, and those of the loader's workers.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMost = 5;
constexpr double kLeastPct = 1;

std::string PhaseText(std::string phase) {
  std::ranges::replace(phase, '_', ' ');
  return phase;
}

void WriteRow(const LineRow& row, const std::string& directory, Page& page) {
  std::string place = row.where ? PlaceText(*row.where, directory) : "line not known";
  if (row.library) place += ", in " + PlaceText(*row.library, directory);
  if (!row.what.empty()) place += ": " + Printable(row.what, 60);
  page.Entry(27, {fmt::format("  {:>9} {:>6}  ", HumanMs(row.ms), HumanPct(row.share_pct))},
             {place + " (" + PhaseText(row.phase) + ")"});
}

void WriteRows(const std::vector<LineRow>& rows, const std::string& directory, Page& page) {
  for (std::size_t i = 0; i < std::min(kMost, rows.size()) && rows[i].share_pct >= kLeastPct; ++i) {
    WriteRow(rows[i], directory, page);
  }
}

}  // namespace

void WriteLines(const Report& report, Page& page) {
  if (!report.lines.empty()) {
    page.Heading("Lines that a step spends most time on");
    WriteRows(report.lines, report.run.working_directory, page);
  }
  if (!report.worker_lines.empty()) {
    page.Heading("Lines that a loader's worker spends most time on, per batch");
    WriteRows(report.worker_lines, report.run.working_directory, page);
  }
}

}  // namespace loopscope
