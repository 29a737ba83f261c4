// The trials as a table for spreadsheets and scripts: one line each, RFC 4180 but for plain line ends.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/core/format.h"
#include "reports/escape.h"
#include "reports/wording.h"

namespace loopscope {
namespace {

constexpr std::string_view kHeader =
    "treatment,value,context,metric,rules,speedup,ci95_low,ci95_high,n,p,p_holm,method,verdict,reason,exactness,"
    "training,changed_places,peak_bytes_baseline,peak_bytes_treated,one_time_cost_s\n";

// Empty where unknown; as many digits as it takes to read it back.
std::string Cell(const std::optional<double>& value) {
  return Known(value) ? fmt::format("{}", *value) : "";
}

std::string End(const TrialRow& trial, int end) {
  return trial.ci95 ? Cell((*trial.ci95)[end]) : "";
}

std::string Row(const TrialRow& trial) {
  const auto changed = std::ranges::count_if(trial.applied, [](const Applied& one) { return one.flags == 0; });
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
                                          CsvText(trial.verdict),
                                          CsvText(trial.reason),
                                          CsvText(trial.exactness),
                                          CsvText(trial.loss.verdict),
                                          std::to_string(changed),
                                          Cell(trial.peak_bytes_baseline),
                                          Cell(trial.peak_bytes_treated),
                                          Cell(trial.one_time_cost_s)};
  return fmt::format("{}\n", fmt::join(cells, ","));
}

Result<void> WriteCsv(const Report& report, Output& output) {
  output.bytes += kHeader;
  for (const TrialRow& trial : report.trials) output.bytes += Row(trial);
  return {};
}

}  // namespace

extern const Format kCsv;
const Format kCsv = {"csv", "the trials, for spreadsheets", WriteCsv};

}  // namespace loopscope
