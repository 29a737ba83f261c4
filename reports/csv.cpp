// The trials as a table for spreadsheets and scripts: one line each, RFC 4180 except for plain line ends.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/core/format.h"
#include "reports/words/escape.h"
#include "reports/words/experiment_wording.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::string_view kHeader =
    "treatment,value,context,metric,rules,speedup,ci95_low,ci95_high,n,p,p_holm,method,verdict,reason,exactness,"
    "training,changed_places,peak_bytes_baseline,peak_bytes_treated,one_time_cost_s\n";

// Empty where unknown; with enough digits to read the same value back.
std::string Cell(const std::optional<double>& value) {
  return Known(value) ? fmt::format("{}", *value) : "";
}

std::string End(const TrialRow& trial, int end) {
  return trial.ci95 ? Cell((*trial.ci95)[end]) : "";
}

std::string Row(const TrialRow& trial) {
  const auto changed = std::ranges::count_if(trial.applied, &Applied::changed);
  std::string rules;
  for (const std::string& rule : trial.rules) rules += (rules.empty() ? "" : " ") + rule;
  const std::vector<std::string> cells = {CsvText(trial.treatment),
                                          CsvText(trial.value),
                                          CsvText(trial.context),
                                          CsvText(trial.metric),
                                          CsvText(rules),
                                          Cell(trial.speedup),
                                          End(trial, 0),
                                          End(trial, 1),
                                          std::to_string(trial.n),
                                          Cell(trial.p),
                                          Cell(trial.p_holm),
                                          CsvText(trial.method),
                                          CsvText(TrialVerdictName(trial.verdict)),
                                          CsvText(trial.reason),
                                          CsvText(trial.exactness),
                                          CsvText(LossText(trial.loss)),
                                          std::to_string(changed),
                                          Cell(trial.peak_bytes_baseline),
                                          Cell(trial.peak_bytes_treated),
                                          Cell(trial.one_time_cost_s)};
  return fmt::format("{}\n", fmt::join(cells, ","));
}

// A sweep has cells instead: a column per axis, then the figures.
void WriteCells(const SweepFacts& sweep, Output& output) {
  std::vector<std::string> head;
  for (const SweepAxis& axis : sweep.axes) head.push_back(CsvText(axis.key));
  for (const char* name : {"metric", "ms", "samples_per_s", "epoch_ms", "ratio", "ci95_low", "ci95_high", "n",
                           "peak_bytes", "published_s", "verdict", "own", "reason"}) {
    head.emplace_back(name);
  }
  output.bytes += fmt::format("{}\n", fmt::join(head, ","));
  for (const SweepCell& cell : sweep.cells) {
    std::vector<std::string> row;
    for (const std::string& value : cell.values) row.push_back(CsvText(value));
    row.resize(sweep.axes.size());
    const auto end = [&](int at) { return cell.ci95 ? Cell((*cell.ci95)[at]) : ""; };
    for (const std::string& one :
         {CsvText(sweep.metric), Cell(cell.ms), Cell(cell.samples_per_s), Cell(cell.epoch_ms), Cell(cell.ratio), end(0),
          end(1), std::to_string(cell.n), Cell(cell.peak_bytes), Cell(cell.published_s),
          CsvText(CellVerdictName(cell.verdict)), std::string(cell.own ? "yes" : "no"), CsvText(cell.reason)}) {
      row.push_back(one);
    }
    output.bytes += fmt::format("{}\n", fmt::join(row, ","));
  }
}

Result<void> WriteCsv(const Report& report, Output& output) {
  if (report.sweep) {
    WriteCells(*report.sweep, output);
    return {};
  }
  output.bytes += kHeader;
  for (const TrialRow& trial : report.trials) output.bytes += Row(trial);
  return {};
}

}  // namespace

extern const Format kCsv = {
    .id = "csv",
    .purpose = "the trials, or a sweep's cells, for spreadsheets",
    .write = WriteCsv,
    .carries = ReportKind::kRun | ReportKind::kTrials | ReportKind::kTarget | ReportKind::kSweep};

}  // namespace loopscope
