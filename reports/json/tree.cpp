#include "reports/json/tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/core/report/headline.h"
#include "reports/json/compare.h"
#include "reports/json/gate.h"
#include "reports/json/launches.h"
#include "reports/json/read.h"
#include "reports/json/run.h"
#include "reports/json/steps.h"
#include "reports/json/sweep.h"
#include "reports/json/target.h"
#include "reports/json/values.h"
#include "reports/words/headline_wording.h"

namespace loopscope {
namespace {

using json_values::Interval95;
using json_values::Json;
using json_values::NumberOrNull;
using json_values::TextOrNull;

Json NumberUnless(double unknown, double value) {
  return value == unknown ? Json(nullptr) : NumberOrNull(value);
}

Json Numbers(const std::vector<double>& values) {
  Json numbers = Json::array();
  for (const double value : values) numbers.push_back(NumberOrNull(value));
  return numbers;
}

Json BreakdownJson(const std::array<std::optional<double>, kParts>& breakdown_ms) {
  Json breakdown = Json::object();
  for (int part = 0; part < kParts; ++part) {
    breakdown[std::string(PartName(static_cast<Part>(part)))] = NumberOrNull(breakdown_ms[part]);
  }
  return breakdown;
}

Json QualityJson(const Quality& quality) {
  Json warnings = Json::array();
  for (const Warning& warning : quality.warnings) warnings.push_back(warning.text);
  return {{"events", quality.events},
          {"dropped", quality.dropped},
          {"stalls_over_1ms", quality.stalls_over_1ms},
          {"torn_bytes", quality.torn_bytes},
          {"clean_end", quality.clean_end},
          {"probe_cost_pct", NumberUnless(-1, quality.probe_cost_pct)},
          {"warnings", std::move(warnings)}};
}

Json WhereJson(const std::optional<Where>& where, const std::string& directory) {
  if (!where) return nullptr;
  return {{"path", RelativePath(where->path, directory)}, {"line", where->line}, {"function", where->function}};
}

Json CollectivesJson(const std::vector<CollectiveRow>& rows) {
  Json all = Json::array();
  for (const CollectiveRow& row : rows) {
    all.push_back({{"group", row.group},
                   {"operation", row.operation},
                   {"phase", row.phase.empty() ? Json(nullptr) : Json(row.phase)},
                   {"ranks", row.ranks > 0 ? Json(row.ranks) : Json(nullptr)},
                   {"per_step", NumberOrNull(row.count)},
                   {"ms", NumberOrNull(row.ms)},
                   {"exposed_ms", NumberOrNull(row.exposed_ms)},
                   {"mbytes", NumberOrNull(row.mbytes)},
                   {"bus_gbytes_per_s", NumberOrNull(row.bus_gbytes_per_s)},
                   {"skew_ms", NumberOrNull(row.skew_ms)}});
  }
  return all;
}

Json GpuJson(const std::optional<GpuFacts>& gpu) {
  if (!gpu) return nullptr;
  Json causes = Json::object();
  for (int cause = 0; cause < kIdleCauses; ++cause) {
    if (!gpu->idle_causes_us[cause]) continue;
    causes[std::string(IdleCauseName(static_cast<IdleCause>(cause)))] = NumberOrNull(gpu->idle_causes_us[cause]);
  }
  const bool known = gpu->incomplete.empty();
  return {{"definitions", gpu->definitions},
          {"incomplete", known ? Json(nullptr) : Json(gpu->incomplete)},
          {"devices", gpu->devices},
          {"steps", gpu->steps},
          {"busy_pct", NumberOrNull(gpu->busy_pct)},
          {"idle_pct", NumberOrNull(gpu->idle_pct)},
          {"span_us", NumberOrNull(gpu->span_us)},
          {"idle_us", known ? NumberOrNull(gpu->idle_us) : Json(nullptr)},
          {"compute_us", NumberOrNull(gpu->compute_us)},
          {"communication_us", NumberOrNull(gpu->communication_us)},
          {"memory_us", NumberOrNull(gpu->memory_us)},
          {"other_us", NumberOrNull(gpu->other_us)},
          {"comm_overlap_pct", NumberOrNull(gpu->comm_overlap_pct)},
          {"launch_delay_us", NumberOrNull(gpu->launch_delay_us)},
          {"queue_depth", NumberOrNull(gpu->queue_depth)},
          {"idle_causes", std::move(causes)}};
}

Json ExamplesJson(const std::vector<CodeExample>& examples) {
  Json rows = Json::array();
  for (const CodeExample& one : examples) {
    rows.push_back({{"language", one.language}, {"before", one.before}, {"after", one.after}});
  }
  return rows;
}

// Of the step; null where nothing better than the cost is known.
Json ExpectedGainPct(const Finding& finding) {
  if (!finding.expected_gain_ms || finding.cost_ms_per_step <= 0) return nullptr;
  return NumberOrNull(*finding.expected_gain_ms / finding.cost_ms_per_step * finding.cost_pct);
}

Json HeadlineJson(const Report& report) {
  const Headline headline = HeadlineOf(report);
  const std::string& directory = report.run.working_directory;
  return {{"text", HeadlineText(report)},
          {"kind", HeadlineKindName(headline.kind)},
          {"part", TextOrNull(headline.part)},
          {"rule", headline.finding ? Json(headline.finding->rule) : Json(nullptr)},
          {"where", WhereJson(headline.where, directory)},
          {"library", WhereJson(headline.library, directory)},
          {"what", TextOrNull(headline.what)},
          {"of", headline.of_run ? "run" : "step"},
          {"ms", NumberOrNull(headline.ms)},
          {"share_pct", NumberOrNull(headline.share_pct)}};
}

Json FindingJson(const Finding& finding, const RunInfo& run) {
  Json evidence = Json::array();
  for (const Evidence& one : finding.evidence) {
    evidence.push_back({{"text", one.text},
                        {"count", one.count},
                        {"ms", one.ms > 0 ? NumberOrNull(one.ms) : Json(nullptr)},
                        {"where", WhereJson(one.where, run.working_directory)}});
  }
  return {{"id", finding.id},
          {"rule", finding.rule},
          {"title", finding.title},
          {"severity", SeverityName(finding.severity)},
          {"cost_ms_per_step", NumberOrNull(finding.cost_ms_per_step)},
          {"cost_pct", NumberOrNull(finding.cost_pct)},
          {"cost_is", CostKindName(finding.cost_is)},
          {"expected_gain_ms", NumberOrNull(finding.expected_gain_ms)},
          {"expected_gain_pct", ExpectedGainPct(finding)},
          {"per_epoch", finding.per_epoch},
          {"evidence", std::move(evidence)},
          {"advice", finding.advice},
          {"examples", ExamplesJson(finding.examples)},
          {"treatment", TextOrNull(finding.treatment_id)},
          {"treatment_value", TextOrNull(finding.treatment)},
          {"source", run.source}};
}

std::string_view AppliedState(std::uint32_t flags) {
  if (flags & wire::kAppliedFailed) return "failed";
  if (flags & wire::kAppliedNotApplicable) return "not-applicable";
  return flags & wire::kAppliedLost ? "lost" : "applied";
}

Json AppliedJson(const std::vector<Applied>& applied) {
  Json places = Json::array();
  for (const Applied& one : applied) {
    places.push_back({{"key", one.key},
                      {"where", one.where},
                      {"old", one.old_value},
                      {"new", one.new_value},
                      {"state", AppliedState(one.flags)}});
  }
  return {{"changed", std::ranges::count_if(applied, &Applied::changed)}, {"places", std::move(places)}};
}

Json LossJson(const LossFacts& loss) {
  return {{"verdict", LossText(loss)},
          {"max_difference", NumberOrNull(loss.max_difference)},
          {"baseline", Numbers(loss.baseline)},
          {"treated", Numbers(loss.treated)}};
}

Json TrialJson(const TrialRow& trial) {
  return {
      {"treatment", trial.treatment},
      {"value", trial.value},
      {"context", trial.context},
      {"rules", trial.rules},
      {"metric", trial.metric},
      {"speedup", NumberOrNull(trial.speedup)},
      {"ci95", Interval95(trial.ci95)},
      {"n", trial.n},
      {"p", NumberOrNull(trial.p)},
      {"p_holm", NumberOrNull(trial.p_holm)},
      {"method", TextOrNull(trial.method)},
      {"verdict", TrialVerdictName(trial.verdict)},
      {"reason", trial.reason},
      {"margin_pct", NumberOrNull(trial.margin_pct)},
      {"detectable_pct", NumberOrNull(trial.detectable_pct)},
      {"applied", AppliedJson(trial.applied)},
      {"exactness", TextOrNull(trial.exactness)},
      {"loss", LossJson(trial.loss)},
      {"peak_bytes",
       {{"baseline", NumberOrNull(trial.peak_bytes_baseline)}, {"treated", NumberOrNull(trial.peak_bytes_treated)}}},
      {"one_time_cost_s", NumberOrNull(trial.one_time_cost_s)},
      {"launches", LaunchesJson(trial.launches)}};
}

Json RanksJson(const std::vector<RankRow>& ranks) {
  Json rows = Json::array();
  for (const RankRow& rank : ranks) {
    rows.push_back({{"rank", rank.rank},
                    {"input", rank.input},
                    {"shown", rank.shown},
                    {"steps", rank.steps},
                    {"mean_ms", NumberOrNull(rank.mean_ms)},
                    {"own_ms", NumberOrNull(rank.own_ms)},
                    {"communication_exposed_ms", NumberOrNull(rank.communication_exposed_ms)},
                    {"loader_wait_ms", NumberOrNull(rank.loader_wait_ms)},
                    {"busy_pct", NumberOrNull(rank.busy_pct)}});
  }
  return rows;
}

Json CombinedJson(const std::optional<CombinedRow>& combined) {
  if (!combined) return nullptr;
  return {{"treatments", combined->treatments},     {"speedup", NumberOrNull(combined->speedup)},
          {"ci95", Interval95(combined->ci95)},     {"n", combined->n},
          {"method", TextOrNull(combined->method)}, {"reason", combined->reason}};
}

}  // namespace

Json ReportTree(const Report& report) {
  Json json = {{"schema", std::string(kReportSchemaPrefix) + std::to_string(kReportSchemaVersion)},
               {"headline", HeadlineJson(report)},
               {"run", RunJson(report.run)},
               {"steps", StepsJson(report.steps)},
               {"whole", WholeJson(report.whole)},
               {"breakdown", BreakdownJson(report.breakdown_ms)},
               {"lines", LinesJson(report.lines, report.run.working_directory)},
               {"whole_lines", LinesJson(report.whole_lines, report.run.working_directory)},
               {"worker_lines", LinesJson(report.worker_lines, report.run.working_directory)},
               {"gpu", GpuJson(report.gpu)},
               {"collectives", CollectivesJson(report.collectives)},
               {"quality", QualityJson(report.quality)},
               {"rules", Json::array()},
               {"findings", Json::array()},
               {"trials", Json::array()}};
  for (const RuleRow& rule : report.rules) {
    json["rules"].push_back({{"id", rule.id}, {"verdict", VerdictName(rule.verdict)}, {"reason", rule.reason}});
  }
  for (const Finding& finding : report.findings) json["findings"].push_back(FindingJson(finding, report.run));
  for (const TrialRow& trial : report.trials) json["trials"].push_back(TrialJson(trial));
  json["combined"] = CombinedJson(report.combined);
  json["noise"] = {{"pair_sd_pct", NumberOrNull(report.noise.pair_sd_pct)},
                   {"detectable_pct", NumberOrNull(report.noise.detectable_pct)}};
  json["plan"] = report.plan;
  json["output_directory"] = TextOrNull(report.output_directory);
  json["gate"] = GateJson(report.gate);
  json["sweep"] = SweepJson(report.sweep);
  json["target"] = TargetJson(report.target);
  json["compare"] = CompareJson(report.compare);
  json["per_rank"] = RanksJson(report.per_rank);
  return json;
}

}  // namespace loopscope
