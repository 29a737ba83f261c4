#include "profiler/commands/history_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "profiler/core/statistics/series.h"
#include "profiler/core/statistics/statistics.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kFindingsShown = 2;

void FindLevels(HistorySeries& series) {
  std::vector<double> logs;
  for (const HistoryRun& run : series.runs) logs.push_back(std::log(*run.ms_per_step));
  series.changes = ChangePoints(logs);
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= series.changes.size(); ++i) {
    const std::size_t end = i < series.changes.size() ? series.changes[i] : logs.size();
    series.levels.push_back(std::exp(Mean(std::span(logs).subspan(begin, end - begin))));
    begin = end;
  }
}

}  // namespace

std::optional<HistorySeries::Change> HistorySeries::ChangeAt(std::size_t i) const {
  const auto change = std::ranges::find(changes, i);
  if (change == changes.end()) return std::nullopt;
  const auto level = static_cast<std::size_t>(change - changes.begin());
  return Change{levels[level], levels[level + 1], runs[i].slowdown};
}

double HistorySeries::fastest_ms() const {
  return *std::ranges::min(runs, {}, [](const HistoryRun& run) { return *run.ms_per_step; }).ms_per_step;
}

double HistorySeries::slowest_ms() const {
  return *std::ranges::max(runs, {}, [](const HistoryRun& run) { return *run.ms_per_step; }).ms_per_step;
}

std::vector<HistorySeries> SeriesOf(const std::vector<HistoryRun>& runs) {
  std::map<std::pair<std::string, std::string>, HistorySeries> by_name;
  for (const HistoryRun& run : runs) {
    if (!run.ms_per_step || *run.ms_per_step <= 0) continue;
    HistorySeries& one = by_name[{run.command, run.machine}];
    one.command = run.command;
    one.machine = run.machine;
    one.runs.push_back(run);
  }
  std::vector<HistorySeries> all;
  for (auto& [name, one] : by_name) {
    std::ranges::stable_sort(one.runs, {}, &HistoryRun::time);
    FindLevels(one);
    all.push_back(std::move(one));
  }
  return all;
}

std::string CauseText(const HistorySeries::Change& change) {
  if (!change.against_base || *change.against_base <= -1) return "";
  // More than half of the change, in the same direction.
  const bool program = std::log1p(*change.against_base) / std::log(change.after_ms / change.before_ms) > 0.5;
  return fmt::format("the {}: {:+.1f} % against its base, measured beside it",
                     program ? "program" : "machine, or a change without a gate", 100 * *change.against_base);
}

std::string RunText(const HistoryRun& run, const std::string& rule) {
  if (run.report.empty()) {
    return run.slowdown ? fmt::format("{} ({:+.1f} % against its base)", run.verdict, 100 * *run.slowdown)
                        : run.verdict;
  }
  std::string text;
  std::size_t shown = 0;
  for (const HistoryFinding& finding : run.findings) {
    if (shown == kFindingsShown || (!rule.empty() && finding.rule != rule)) continue;
    ++shown;
    if (!text.empty()) text += ", ";
    text += finding.rule;
    if (finding.ms_per_step > 0) text += fmt::format(" {} ({})", HumanMs(finding.ms_per_step), HumanPct(finding.pct));
  }
  return text.empty() ? "nothing found" : text;
}

}  // namespace loopscope
