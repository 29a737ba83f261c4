#include "reports/words/time_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/words/escape.h"
#include "reports/words/headline_wording.h"
#include "reports/words/step_wording.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostLines = 10;

std::string LineTable(const Report& report) {
  if (report.lines.empty()) return "";
  std::string table = "\n| of a step | | phase | where |\n|---:|---:|---|---|\n";
  for (std::size_t i = 0; i < std::min(report.lines.size(), kMostLines); ++i) {
    const LineRow& line = report.lines[i];
    table += fmt::format("| {} | {} | {} | {} |\n", HumanMs(line.ms), HumanPct(line.share_pct),
                         MarkdownText(PhaseText(line.phase), 40),
                         MarkdownText(LinePlaceText(line, report.run.working_directory), 300));
  }
  return table;
}

}  // namespace

std::string TimeTables(const Report& report) {
  std::string tables = LineTable(report);
  const std::vector<WholeRow> parts = WholeRows(report);
  if (!parts.empty()) tables += "\n| of the run, as far as it was seen | | |\n|---|---:|---:|\n";
  for (const WholeRow& part : parts) {
    tables += fmt::format("| {} | {} | {} |\n", part.name, HumanMs(part.ms), HumanPct(part.share_pct));
  }
  return tables;
}

}  // namespace loopscope
