#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/cli/command.h"
#include "profiler/core/printable.h"
#include "profiler/core/statistics/change_points.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/gate/history_file.h"
#include "profiler/system/terminal.h"
#include "reports/text/page.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kChartColumns = 24, kMostShown = 60;

using Series = std::vector<HistoryRun>;

std::vector<double> LogTimes(const Series& series) {
  std::vector<double> logs;
  for (const HistoryRun& run : series) logs.push_back(std::log(*run.ms_per_step));
  return logs;
}

// The geometric mean of each level.
std::vector<double> Levels(const std::vector<double>& logs, const std::vector<std::size_t>& changes) {
  std::vector<double> levels;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= changes.size(); ++i) {
    const std::size_t end = i < changes.size() ? changes[i] : logs.size();
    levels.push_back(std::exp(Mean(std::span(logs).subspan(begin, end - begin))));
    begin = end;
  }
  return levels;
}

// A bar on the scale from the fastest to the slowest run of the series.
std::string Bar(double ms, double fastest, double slowest) {
  const double share = slowest > fastest ? (ms - fastest) / (slowest - fastest) : 0;
  std::string bar;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(std::lround(share * (kChartColumns - 1))); ++i) bar += "█";
  return bar + std::string(kChartColumns - static_cast<std::size_t>(DisplayWidth(bar)), ' ');
}

std::string RunText(const HistoryRun& run) {
  std::string text = run.verdict;
  if (run.slowdown) text += fmt::format(" ({:+.1f} % against its base)", 100 * *run.slowdown);
  return text;
}

void WriteSeries(const std::string& command, const std::string& machine, const Series& series, Page& page) {
  page.Heading(Printable(command, 200));
  page.Entry(2, {""}, {fmt::format("{}: {} runs", Printable(machine, 200), series.size()), Style::kDim});
  const std::vector<double> logs = LogTimes(series);
  const std::vector<std::size_t> changes = ChangePoints(logs);
  const std::vector<double> levels = Levels(logs, changes);
  const auto [fastest, slowest] =
      std::ranges::minmax(series, {}, [](const HistoryRun& run) { return *run.ms_per_step; });
  const std::size_t first = series.size() > kMostShown ? series.size() - kMostShown : 0;
  if (first > 0) page.Entry(2, {""}, {fmt::format("… {} runs before these", first), Style::kDim});
  for (std::size_t i = first; i < series.size(); ++i) {
    const auto change = std::ranges::find(changes, i);
    if (change != changes.end()) {
      const auto level = static_cast<std::size_t>(change - changes.begin());
      const double pct = 100 * (levels[level + 1] / levels[level] - 1);
      page.Entry(
          2, {"  >", pct > 0 ? Style::kRed : Style::kGreen},
          {fmt::format("changed here: {} -> {} ({:+.1f} %)", HumanMs(levels[level]), HumanMs(levels[level + 1]), pct),
           pct > 0 ? Style::kRed : Style::kGreen});
    }
    const HistoryRun& run = series[i];
    page.Entry(22, {"  " + Printable(run.time, 20)},
               {fmt::format("{:>9} {} {}", HumanMs(*run.ms_per_step),
                            Bar(*run.ms_per_step, *fastest.ms_per_step, *slowest.ms_per_step), RunText(run))});
  }
  if (changes.empty()) page.Entry(2, {""}, {"No change of level."});
}

// A series holds times of one machine only.
Result<int> HistoryCommand(const Options& options) {
  const auto runs = ReadHistory(options.inputs.front());
  if (!runs) return runs.error();
  std::map<std::pair<std::string, std::string>, Series> series;
  std::size_t untimed = 0;
  for (const HistoryRun& run : *runs) {
    if (run.ms_per_step && *run.ms_per_step > 0) {
      series[{run.command, run.machine}].push_back(run);
    } else {
      ++untimed;
    }
  }
  Output output = StandardOutput();
  Page page(output);
  for (const auto& [key, one] : series) WriteSeries(key.first, key.second, one, page);
  if (untimed > 0)
    page.Entry(2, {""}, {fmt::format("{} runs were not timed: their counters or their commands failed.", untimed)});
  Print(output);
  return 0;
}

}  // namespace

extern const Command kHistoryCommand{.id = "history",
                                     .summary = "The gates of many days: step times, and where their level changed.",
                                     .usage = "history DIR",
                                     .example = "loopscope history loopscope-history",
                                     .inputs = 1,
                                     .check = [](const Command& command, Options& options) -> Result<void> {
                                       if (!options.inputs.empty()) return {};
                                       return WrongUsage(command, "no history named",
                                                         "name the folder that `gate --record DIR` wrote to");
                                     },
                                     .run = HistoryCommand};

}  // namespace loopscope
