#include "profiler/diagnosis/rank_report.h"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analyzers/ranks/rank_analyzers.h"
#include "profiler/core/host.h"
#include "profiler/core/parallel.h"
#include "profiler/diagnosis/diagnosis.h"
#include "profiler/diagnosis/rank_inputs.h"
#include "profiler/importers/importers.h"

namespace loopscope {
namespace {

// The largest is shown. It must not depend on who was read first.
using ShownRank = std::tuple<double, std::uint64_t, std::size_t>;
ShownRank ShownKey(const RankSummary& rank, std::size_t place) {
  return {rank.own_ms(), rank.events, ~place};
}

// Reads ranks one after the other on each of several threads.
class RankReader {
 public:
  explicit RankReader(const std::vector<Input>& inputs) : inputs_(inputs), summaries_(inputs.size()) {}

  void ReadAll() {
    ParallelFor(inputs_.size(), static_cast<std::size_t>(std::max(ThisHost().cores, 1)),
                [this](std::size_t i) { Read(i); });
  }

  std::vector<RankSummary> TakeSummaries() {
    std::vector<RankSummary> all;
    for (std::optional<RankSummary>& one : summaries_) {
      if (one) all.push_back(std::move(*one));
    }
    return all;
  }
  const std::vector<Error>& errors() const { return errors_; }
  std::shared_ptr<const Timeline> kept() const { return kept_; }
  const std::string& kept_input() const { return kept_input_; }

 private:
  void Read(std::size_t i) {
    Result<Trace> trace = ReadAnyTrace(inputs_[i].path, inputs_[i].process);
    if (!trace) {
      const std::lock_guard guard(lock_);
      errors_.push_back(trace.error());
      return;
    }
    auto timeline = std::make_shared<const Timeline>(Timeline::Build(std::move(*trace)));
    RankSummary summary = SummarizeRank(*timeline, InputText(inputs_[i]));
    Keep(i, std::move(summary), std::move(timeline));
    // Else each thread's arena would hold on to the largest trace that it ever read.
    malloc_trim(0);
  }

  void Keep(std::size_t i, RankSummary summary, std::shared_ptr<const Timeline> timeline) {
    const std::lock_guard guard(lock_);
    const auto key = ShownKey(summary, i);
    if (!kept_ || key > kept_key_) {
      kept_key_ = key;
      kept_input_ = summary.input;
      kept_.swap(timeline);
    }
    summaries_[i] = std::move(summary);
  }

  const std::vector<Input>& inputs_;
  std::vector<std::optional<RankSummary>> summaries_;
  std::vector<Error> errors_;
  std::shared_ptr<const Timeline> kept_;
  std::string kept_input_;
  ShownRank kept_key_;
  std::mutex lock_;
};

RankRow RowOf(const RankSummary& rank, const std::string& shown) {
  RankRow row;
  row.rank = rank.run.rank;
  row.node = rank.run.node;
  row.input = rank.input;
  row.shown = rank.input == shown;
  row.steps = rank.steps;
  row.loader_wait_ms = rank.loader_wait_ms;
  if (rank.steps > 0) {
    row.mean_ms = rank.mean_step_ms;
    row.own_ms = rank.own_ms();
    if (rank.communication_seen) row.communication_exposed_ms = std::max(rank.exposed_ms(), 0.0);
  }
  double busy_ms = 0, span_ms = 0;
  for (const RankDevice& device : rank.devices) {
    busy_ms += device.busy_ms;
    span_ms += device.span_ms;
  }
  if (span_ms > 0 && rank.why_no_devices.empty()) row.busy_pct = 100 * busy_ms / span_ms;
  return row;
}

// The diagnosis of one of the inputs: of the timeline that was kept if it is that one's.
Result<Report> DiagnosisOfInput(const std::vector<Input>& inputs, const RankReader& reader, const std::string& shown) {
  if (shown == reader.kept_input()) return DiagnosisOf(reader.kept());
  const auto input = std::ranges::find(inputs, shown, InputText);
  Result<Trace> trace = ReadAnyTrace(input->path, input->process);
  if (!trace) return trace.error();
  return DiagnosisOf(std::move(*trace));
}

}  // namespace

Result<std::optional<Report>> ReduceRanks(std::vector<RankSummary> all, const std::vector<Error>& errors,
                                          const std::function<Result<Report>(const std::string& input)>& diagnosis_of) {
  if (all.empty() && !errors.empty()) return errors.front();
  std::string shown;
  std::optional<ShownRank> most;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (most && ShownKey(all[i], i) <= *most) continue;
    most = ShownKey(all[i], i);
    shown = all[i].input;
  }
  RankSelection selection = SelectRanks(std::move(all));
  if (selection.ranks.size() < 2 && selection.warnings.empty() && errors.empty()) return std::optional<Report>();
  // It may have been left out as of another run.
  if (std::ranges::find(selection.ranks, shown, &RankSummary::input) == selection.ranks.end()) {
    shown = std::ranges::max_element(selection.ranks, {}, &RankSummary::own_ms)->input;
  }
  Result<Report> diagnosed = diagnosis_of(shown);
  if (!diagnosed) return diagnosed.error();
  Report& report = *diagnosed;
  DiagnoseRanks(
      selection.ranks,
      [&](const Finding& finding) {
        return TreatmentOf(finding, report.run, selection.ranks[0].facts, selection.ranks[0].knobs);
      },
      report);
  CompareCollectives(selection.ranks, report.collectives);
  for (const RankSummary& rank : selection.ranks) {
    report.per_rank.push_back(RowOf(rank, shown));
    if (rank.input == shown) report.run.rank = rank.run.rank;
    report.run.ranks = std::max(report.run.ranks, rank.run.rank + 1);
  }
  // A process that was not started as one of several is not a rank.
  if (selection.ranks.size() == 1 && report.run.source == "capture" && report.run.ranks <= 1) report.per_rank.clear();
  DropOtherProcesses(report);  // they are shown too
  for (std::string& warning : selection.warnings) report.quality.warnings.push_back(std::move(warning));
  for (const Error& error : errors) report.quality.warnings.push_back(error.where + ": " + error.what);
  return std::optional(std::move(report));
}

Result<std::optional<Report>> ReportOfRanks(const std::vector<Input>& inputs) {
  RankReader reader(inputs);
  reader.ReadAll();
  return ReduceRanks(reader.TakeSummaries(), reader.errors(),
                     [&](const std::string& shown) { return DiagnosisOfInput(inputs, reader, shown); });
}

void DropOtherProcesses(Report& report) {
  std::erase_if(report.quality.warnings, [](const Warning& one) { return one.kind == WarningKind::kOtherProcesses; });
}

}  // namespace loopscope
