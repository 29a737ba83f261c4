#include "reports/json/read.h"

#include "profiler/core/json_members.h"
#include "reports/json/compare.h"
#include "reports/json/gate.h"
#include "reports/json/launches.h"
#include "reports/json/run.h"
#include "reports/json/schema.h"
#include "reports/json/steps.h"
#include "reports/json/sweep.h"
#include "reports/json/target.h"

namespace loopscope {
namespace {

using namespace json_members;

Quality ReadQuality(const json& object) {
  const std::vector<std::string> warnings = Texts(object, "warnings");
  return {Whole<std::uint64_t>(object, "events"),
          Whole<std::uint64_t>(object, "dropped"),
          Whole<std::uint64_t>(object, "stalls_over_1ms"),
          Whole<std::uint64_t>(object, "torn_bytes"),
          Flag(object, "clean_end"),
          Number(object, "probe_cost_pct").value_or(-1),
          {warnings.begin(), warnings.end()}};
}

GpuFacts ReadGpu(const json& object) {
  GpuFacts gpu;
  if (const std::string definitions = Text(object, "definitions"); !definitions.empty()) gpu.definitions = definitions;
  gpu.incomplete = Text(object, "incomplete");
  gpu.devices = Whole<int>(object, "devices");
  gpu.steps = Whole<int>(object, "steps");
  gpu.busy_pct = Number(object, "busy_pct");
  gpu.idle_pct = Number(object, "idle_pct");
  gpu.span_us = Number(object, "span_us").value_or(0);
  gpu.idle_us = Number(object, "idle_us").value_or(0);
  gpu.compute_us = Number(object, "compute_us").value_or(0);
  gpu.communication_us = Number(object, "communication_us").value_or(0);
  gpu.memory_us = Number(object, "memory_us").value_or(0);
  gpu.other_us = Number(object, "other_us").value_or(0);
  gpu.comm_overlap_pct = Number(object, "comm_overlap_pct");
  gpu.launch_delay_us = Number(object, "launch_delay_us");
  gpu.queue_depth = Number(object, "queue_depth");
  for (int cause = 0; cause < kIdleCauses; ++cause) {
    const std::string name(IdleCauseName(static_cast<IdleCause>(cause)));
    gpu.idle_causes_us[cause] = Number(Member(object, "idle_causes"), name.c_str());
  }
  return gpu;
}

CollectiveRow ReadCollective(const json& object) {
  CollectiveRow row;
  row.group = Text(object, "group");
  row.operation = Text(object, "operation");
  row.phase = Text(object, "phase");
  row.ranks = Whole<int>(object, "ranks");
  row.count = Number(object, "per_step").value_or(0);
  row.ms = Number(object, "ms").value_or(0);
  row.exposed_ms = Number(object, "exposed_ms").value_or(0);
  row.mbytes = Number(object, "mbytes");
  row.bus_gbytes_per_s = Number(object, "bus_gbytes_per_s");
  row.skew_ms = Number(object, "skew_ms");
  return row;
}

Evidence ReadEvidence(const json& object) {
  Evidence evidence{Text(object, "text"), Whole<std::uint64_t>(object, "count", 1), std::nullopt,
                    Number(object, "ms").value_or(0)};
  const json& where = Member(object, "where");
  if (!where.is_null()) evidence.where = Where{Text(where, "path"), Whole<int>(where, "line"), Text(where, "function")};
  return evidence;
}

Finding ReadFinding(const json& object) {
  Finding finding;
  finding.id = Text(object, "id");
  finding.rule = Text(object, "rule");
  finding.title = Text(object, "title");
  finding.severity = Named(object, "severity", SeverityName, Severity::kHigh);
  finding.cost_ms_per_step = Number(object, "cost_ms_per_step").value_or(0);
  finding.cost_pct = Number(object, "cost_pct").value_or(0);
  if (!Member(object, "cost_is").is_null()) {
    finding.cost_is = Named(object, "cost_is", CostKindName, CostKind::kLeast);
  }
  finding.expected_gain_ms = Number(object, "expected_gain_ms");
  finding.per_epoch = Flag(object, "per_epoch");
  for (const json& item : Items(object, "evidence")) finding.evidence.push_back(ReadEvidence(item));
  finding.advice = Text(object, "advice");
  for (const json& item : Items(object, "examples")) {
    finding.examples.push_back({Text(item, "language"), Text(item, "before"), Text(item, "after")});
  }
  finding.treatment_id = Text(object, "treatment");
  finding.treatment = Text(object, "treatment_value");
  return finding;
}

Applied ReadApplied(const json& object) {
  const std::string state = Text(object, "state");
  std::uint32_t flags = 0;
  if (state == "failed") flags = wire::kAppliedFailed;
  if (state == "not-applicable") flags = wire::kAppliedNotApplicable;
  if (state == "lost") flags = wire::kAppliedLost;
  return {Text(object, "key"), Text(object, "where"), Text(object, "old"), Text(object, "new"), flags};
}

LossFacts ReadLoss(const json& object) {
  LossFacts loss{.baseline = Numbers(object, "baseline"),
                 .treated = Numbers(object, "treated"),
                 .max_difference = Number(object, "max_difference")};
  SetLossText(Text(object, "verdict"), loss);
  return loss;
}

TrialRow ReadTrial(const json& object) {
  TrialRow trial;
  trial.treatment = Text(object, "treatment");
  trial.value = Text(object, "value");
  trial.context = Text(object, "context");
  trial.rules = Texts(object, "rules");
  trial.metric = Text(object, "metric");
  trial.speedup = Number(object, "speedup");
  trial.ci95 = Interval95(object);
  trial.n = Whole<int>(object, "n");
  trial.p = Number(object, "p");
  trial.p_holm = Number(object, "p_holm");
  trial.method = Text(object, "method");
  trial.verdict = Named(object, "verdict", TrialVerdictName, TrialVerdict::kUseful);
  trial.reason = Text(object, "reason");
  trial.margin_pct = Number(object, "margin_pct");
  trial.detectable_pct = Number(object, "detectable_pct");
  for (const json& item : Items(Member(object, "applied"), "places")) trial.applied.push_back(ReadApplied(item));
  trial.exactness = Text(object, "exactness");
  trial.loss = ReadLoss(Member(object, "loss"));
  trial.peak_bytes_baseline = Number(Member(object, "peak_bytes"), "baseline");
  trial.peak_bytes_treated = Number(Member(object, "peak_bytes"), "treated");
  trial.one_time_cost_s = Number(object, "one_time_cost_s");
  trial.launches = ReadLaunches(object);
  return trial;
}

RankRow ReadRank(const json& object) {
  RankRow rank;
  rank.rank = Whole<int>(object, "rank");
  rank.input = Text(object, "input");
  rank.shown = Flag(object, "shown");
  rank.steps = Whole<int>(object, "steps");
  rank.mean_ms = Number(object, "mean_ms");
  rank.own_ms = Number(object, "own_ms");
  rank.communication_exposed_ms = Number(object, "communication_exposed_ms");
  rank.loader_wait_ms = Number(object, "loader_wait_ms");
  rank.busy_pct = Number(object, "busy_pct");
  return rank;
}

CombinedRow ReadCombined(const json& object) {
  return {Texts(object, "treatments"), Number(object, "speedup"), Interval95(object),
          Whole<int>(object, "n"),     Text(object, "method"),    Text(object, "reason")};
}

Report ReadReport(const json& object) {
  Report report;
  report.run = ReadRun(Member(object, "run"));
  report.steps = ReadSteps(Member(object, "steps"));
  report.whole = ReadWhole(Member(object, "whole"));
  report.lines = ReadLines(object, "lines");
  report.whole_lines = ReadLines(object, "whole_lines");
  report.worker_lines = ReadLines(object, "worker_lines");
  for (int part = 0; part < kParts; ++part) {
    const std::string name(PartName(static_cast<Part>(part)));
    report.breakdown_ms[part] = Number(Member(object, "breakdown"), name.c_str());
  }
  if (!Member(object, "gpu").is_null()) report.gpu = ReadGpu(Member(object, "gpu"));
  for (const json& row : Items(object, "collectives")) report.collectives.push_back(ReadCollective(row));
  report.quality = ReadQuality(Member(object, "quality"));
  for (const json& item : Items(object, "rules")) {
    report.rules.push_back(
        {Text(item, "id"), Named(item, "verdict", VerdictName, Verdict::kNotApplicable), Text(item, "reason")});
  }
  for (const json& item : Items(object, "findings")) report.findings.push_back(ReadFinding(item));
  for (const json& item : Items(object, "trials")) report.trials.push_back(ReadTrial(item));
  if (!Member(object, "combined").is_null()) report.combined = ReadCombined(Member(object, "combined"));
  report.noise = {Number(Member(object, "noise"), "pair_sd_pct"), Number(Member(object, "noise"), "detectable_pct")};
  report.plan = Texts(object, "plan");
  for (const json& item : Items(object, "per_rank")) report.per_rank.push_back(ReadRank(item));
  if (!Member(object, "compare").is_null()) report.compare = ReadCompare(Member(object, "compare"));
  if (!Member(object, "gate").is_null()) report.gate = ReadGate(Member(object, "gate"));
  if (!Member(object, "sweep").is_null()) report.sweep = ReadSweep(Member(object, "sweep"));
  if (!Member(object, "target").is_null()) report.target = ReadTarget(Member(object, "target"));
  report.output_directory = Text(object, "output_directory");
  return report;
}

constexpr JsonKind kReport{.prefix = kReportSchemaPrefix,
                           .version = kReportSchemaVersion,
                           .what = "a Loopscope report",
                           .next = "pass JSON that `loopscope … --json FILE` wrote"};

}  // namespace

Result<Report> ReadReportJson(std::string_view text) {
  return ReadJson<Report>(text, kReport, ReadReport);
}

}  // namespace loopscope
