#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>

#include "analyzers/diagnose/rule_texts.h"
#include "profiler/cli/command.h"
#include "profiler/cli/option_parsers.h"
#include "profiler/commands/history_series.h"
#include "profiler/core/printable.h"
#include "profiler/core/text.h"
#include "profiler/core/write_file.h"
#include "profiler/diagnosis/report_from.h"
#include "profiler/launch/outcome.h"
#include "profiler/system/terminal.h"
#include "reports/text/page.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kChartColumns = 12, kMostShown = 60;

// A bar on the scale from the fastest to the slowest run of the series.
std::string Bar(double ms, double fastest, double slowest) {
  const double share = slowest > fastest ? (ms - fastest) / (slowest - fastest) : 0;
  std::string bar;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(std::lround(share * (kChartColumns - 1))); ++i) bar += "█";
  return bar + std::string(kChartColumns - static_cast<std::size_t>(DisplayWidth(bar)), ' ');
}

void WriteSeries(const HistorySeries& series, const std::string& rule, Page& page) {
  page.Heading(Printable(series.command, 200));
  page.Entry(2, {""},
             {fmt::format("{}: {}", Printable(series.machine, 200), Counted(series.runs.size(), "run")), Style::kDim});
  const double fastest = series.fastest_ms(), slowest = series.slowest_ms();
  const std::size_t count = series.runs.size(), first = count > kMostShown ? count - kMostShown : 0;
  if (first > 0) page.Entry(2, {""}, {fmt::format("… {} runs before these", first), Style::kDim});
  for (std::size_t i = first; i < count; ++i) {
    if (const auto change = series.ChangeAt(i)) {
      const Style style = change->pct() > 0 ? Style::kRed : Style::kGreen;
      page.Entry(2, {"  >", style},
                 {fmt::format("changed here: {} -> {} ({:+.1f} %)", HumanMs(change->before_ms),
                              HumanMs(change->after_ms), change->pct()),
                  style});
      if (const std::string cause = CauseText(*change); !cause.empty()) page.Entry(4, {""}, {cause, Style::kDim});
    }
    const HistoryRun& run = series.runs[i];
    page.Entry(24, {"  " + Printable(run.time, 20)},
               {fmt::format("{:>9} {} {}", HumanMs(*run.ms_per_step), Bar(*run.ms_per_step, fastest, slowest),
                            Printable(RunText(run, rule), 200))});
  }
  if (series.changes.empty()) page.Entry(2, {""}, {"No change of level."});
}

std::vector<HistoryRun> RunsOf(const Report& report) {
  if (report.gate) return HistoryOf(*report.gate, report.run);
  const std::string command = report.run.command.empty() ? "unknown program" : Shown(report.run.command);
  HistoryRun run{report.run.started, command, MachineText(report.run), "", report.steps.mean_ms, {}, {}};
  run.report = fmt::format("{}\n{}\n{}\n{}", run.time, run.command, run.machine, report.run.rank);
  for (const Finding& finding : report.findings) {
    run.findings.push_back({finding.rule, std::string(SeverityName(finding.severity)), finding.title,
                            finding.cost_ms_per_step, finding.cost_pct});
  }
  return {run};
}

// Adds the reports that are named. One that cannot be read is named, and the others are added; returns whether all
// were.
Result<bool> AddReports(const std::filesystem::path& folder, std::span<const std::string> inputs) {
  std::vector<HistoryRun> runs;
  bool all = true;
  for (const std::string& input : inputs) {
    const Result<Report> report = ReportFrom(input);
    if (!report) {
      Write(stderr,
            fmt::format("loopscope: {} is left out: {}\n", Printable(input, 200), Printable(report.error().what, 500)));
      all = false;
      continue;
    }
    const std::vector<HistoryRun> one = RunsOf(*report);
    runs.insert(runs.end(), one.begin(), one.end());
  }
  if (runs.empty()) return all;
  const Result<int> added = AppendHistory(folder, runs);
  if (!added) return added.error();
  const std::size_t known = runs.size() - static_cast<std::size_t>(*added);
  Write(stderr, fmt::format("loopscope: {} added{}\n", Counted(*added, "run"),
                            known > 0 ? fmt::format(", {} known already", known) : ""));
  return all;
}

bool Contains(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::ranges::search(text, part, same).begin() != text.end() || part.empty();
}

bool IsWanted(const HistoryRun& run, const HistoryOptions& wanted) {
  const auto has_rule = [&](const HistoryFinding& finding) { return finding.rule == wanted.rule; };
  return Contains(run.command, wanted.program) && Contains(run.machine, wanted.machine) &&
         (wanted.rule.empty() || std::ranges::any_of(run.findings, has_rule));
}

// A series holds times of one machine only.
Result<int> HistoryCommand(const Options& options) {
  const std::filesystem::path folder = options.inputs.front();
  const Result<bool> all = AddReports(folder, std::span(options.inputs).subspan(1));
  if (!all) return all.error();
  auto runs = ReadHistory(folder);
  if (!runs) return runs.error();
  std::erase_if(*runs, [&](const HistoryRun& run) { return !IsWanted(run, options.history); });
  const std::vector<HistorySeries> series = SeriesOf(*runs);
  Output output = StandardOutput();
  Page page(output);
  std::size_t timed = 0;
  for (const HistorySeries& one : series) {
    WriteSeries(one, options.history.rule, page);
    timed += one.runs.size();
  }
  if (runs->empty()) page.Entry(2, {""}, {"No run is like that."});
  if (timed < runs->size()) {
    page.Entry(2, {""},
               {fmt::format("{} runs were not timed: their counters or their commands failed, or no steps were "
                            "seen.",
                            runs->size() - timed)});
  }
  Print(output);
  if (!options.history.html.empty()) {
    const auto written = WriteOutputFile(options.history.html, HistoryPage(series, options.history.rule));
    if (!written) return written.error();
  }
  return *all ? 0 : 2;
}

void AddHistory(CLI::App& app, Options& options) {
  HistoryOptions& into = options.history;
  Last(app.add_option("--program", into.program, "only commands that hold this text"), "TEXT");
  Last(app.add_option("--machine", into.machine, "only machines that hold this text"), "TEXT");
  Last(app.add_option("--rule", into.rule, "only runs with a finding of this rule, and what it cost"), "ID");
  AddPlace(app, "--html", into.html, "FILE", "also write to FILE: the series as one page");
}

Result<void> CheckHistory(const Command& command, Options& options) {
  if (options.inputs.empty()) {
    return WrongUsage(command, "no history named", "name the folder that `gate --record DIR` wrote to, or a new one");
  }
  if (!options.history.rule.empty() && RuleTitle(options.history.rule).empty()) {
    return Error{"unknown rule `" + options.history.rule + "`", "history", "`loopscope rules` lists them"};
  }
  return {};
}

}  // namespace

extern const Command kHistoryCommand{
    .id = "history",
    .summary = "Step times of many gates and reports, and where their level changed.",
    .usage = "history [options] DIR [REPORT…]",
    .example = "loopscope history catalogue loopscope-out/*/report.json",
    .inputs = kAnyInputs,
    .inputs_text = "the history's folder, then reports to add to it: their JSON, or run folders",
    .add = AddHistory,
    .check = CheckHistory,
    .run = HistoryCommand};

}  // namespace loopscope
