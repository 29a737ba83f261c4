// Reports built by hand: a complete one after an experiment, and one whose every text is hostile.
#pragma once

#include "analyzers/analyzers.h"
#include "analyzers/diagnose/diagnose.h"
#include "profiler/core/report/report.h"
#include "profiler/core/seam.h"

namespace loopscope::test {

// With what the rule says of all its findings, where there is one of that name.
inline Finding SampleFinding(std::string rule, std::string title, Severity severity, double cost_ms, double cost_pct) {
  Finding finding;
  finding.rule = std::move(rule);
  if (const Analyzer* const analyzer = FindById(AllAnalyzers(), finding.rule)) AddRule(*analyzer, finding);
  finding.title = std::move(title);
  finding.severity = severity;
  finding.cost_ms_per_step = cost_ms;
  finding.cost_pct = cost_pct;
  finding.id = FindingId(finding.rule, std::nullopt);
  return finding;
}

inline std::vector<Finding> SampleFindings() {
  Finding debug =
      SampleFinding("debug-left-on", "anomaly detection is on in all 50 steps", Severity::kHigh, 61.25, 51.04);
  debug.evidence = {{"NaN checks after backward nodes", 4100, Where{"/home/ann/train/loop.cpp", 120, "TrainEpoch"}},
                    {"no place known", 1, std::nullopt}};
  debug.advice = "Turn anomaly detection off once the fault is found; it checks every gradient for NaN.";
  debug.cost_is = CostKind::kBound;
  debug.expected_gain_ms = 55;
  debug.treatment_id = "debug";
  debug.treatment = "off";
  debug.examples = {{"cpp", "AnomalyMode::set_enabled(true);", "AnomalyMode::set_enabled(options.debug);"},
                    {"python", "set_detect_anomaly(True)", "set_detect_anomaly(args.debug)"}};
  Finding loader = SampleFinding("input-starvation", "the loop waits 21.5 ms per step for its loader",
                                 Severity::kMedium, 21.5, 17.92);
  loader.evidence = {{"exposed wait in each step", 50, Where{"/opt/data/reader.cpp", 0, "Next"}}};
  loader.advice = "Load batches in worker threads.";
  loader.treatment_id = "loader.workers";
  Finding eval =
      SampleFinding("grad-in-eval", "validation records a graph that nothing uses", Severity::kLow, 2.5, 2.04);
  eval.per_epoch = true;
  Finding sync = SampleFinding("host-sync", "a value is read from the device 50 times", Severity::kInfo, 0, 0);
  sync.evidence = {{"aten::item", 50, Where{"/home/ann/train/loop.cpp", 131, "TrainEpoch"}}};
  return {debug, loader, eval, sync};
}

inline std::vector<TrialRow> SampleTrials() {
  TrialRow debug;
  debug.treatment = "debug";
  debug.value = "off";
  debug.context = "with-others";
  debug.rules = {"debug-left-on"};
  debug.speedup = 1.42;
  debug.ci95 = {1.37, 1.47};
  debug.n = 12;
  debug.p = 0.0005;
  debug.p_holm = 0.002;
  debug.method = "exact";
  debug.verdict = TrialVerdict::kFaster;
  debug.applied = {{"debug", "anomaly mode", "on", "off", 0}};
  debug.exactness = "exact";
  debug.loss = {{2.5, 2.25}, {2.5, 2.25}, 0, LossVerdict::kBitIdentical};
  debug.peak_bytes_baseline = 1.5e9;
  debug.peak_bytes_treated = 1.42e9;
  debug.launches = {{0, 1, "ALL", 70.5, "ok"}, {0, 2, "ALL-debug", std::nullopt, "exit 1"}};
  TrialRow same = debug;
  same.treatment = "threads";
  same.value = "2";
  same.context = "alone";
  same.verdict = TrialVerdict::kEquivalent;
  same.margin_pct = 2;
  same.speedup = 1.001;
  same.ci95 = {0.993, 1.008};
  same.p_holm = 1;
  same.applied = {{"threads", "OMP_NUM_THREADS", "1", "2", 0}, {"threads", "mkl", "1", "1", wire::kAppliedLost}};
  TrialRow open = same;
  open.treatment = "grad.set_to_none";
  open.value = "on";
  open.verdict = TrialVerdict::kInconclusive;
  open.detectable_pct = 3.1;
  TrialRow none;
  none.treatment = "amp";
  none.value = "bf16";
  none.context = "with-others";
  none.verdict = TrialVerdict::kNotApplicable;
  none.reason = "this CPU has no 16-bit units";
  return {debug, same, open, none};
}

inline GpuFacts SampleGpu() {
  GpuFacts gpu;
  gpu.devices = 1;
  gpu.steps = 50;
  gpu.span_us = 6e6;
  gpu.idle_us = 2.4e6;
  gpu.compute_us = 3.2e6;
  gpu.communication_us = 0.6e6;
  gpu.memory_us = 0.25e6;
  gpu.other_us = 0.4e6;
  gpu.busy_pct = 60;
  gpu.idle_pct = 40;
  gpu.comm_overlap_pct = 75;
  gpu.launch_delay_us = 18.5;
  gpu.queue_depth = 3.25;
  gpu.idle_causes_us = {1.1e6, 0.6e6, 0.2e6, 0.3e6, 0, 0.2e6};
  return gpu;
}

// What a step is, its lines and the parts of the run.
inline void AddSampleLines(Report& report) {
  report.steps.clock = ClockFacts{"optimizer:SGD#1", ClockSource::kOptimizer, false, 1, 1, 1};
  report.steps.disturbed = 4;
  report.headroom = Headroom{.step_ms = 8.3,
                             .floor_ms = 4.1,
                             .operators_ms = 6.2,
                             .unknown_ms = 0.2,
                             .mfu_pct = 31.5,
                             .peaks = {{"product.f32.1024", 182.4}},
                             .lines = {{Where{"model.py", 31, "forward"}, "aten::conv2d", 3.2, 1.1}}};
  report.steps.transient = 3;
  report.steps.transient_mean_ms = 477;
  report.whole = WholeFacts{2500, 9120, 620, 1900, 80, 74, 2, 1};
  const Where loop{"/home/ann/train/loop.cpp", 120, "TrainEpoch"}, next{"/home/ann/train/loop.cpp", 112, "TrainEpoch"};
  const Where model{"/home/ann/train/net.cpp", 31, "Net::forward"},
      evaluate{"/home/ann/train/loop.cpp", 150, "Evaluate"};
  const Where reader{"/opt/data/reader.cpp", 44, "Read"};
  report.lines = {{loop, std::nullopt, "aten::convolution_backward", "backward", 52.02, 43.35},
                  {model, std::nullopt, "aten::conv2d", "forward", 33.33, 27.78},
                  {next, Where{"/opt/data/reader.cpp", 70, "Next"}, "", "loader_wait", 21.53, 17.94},
                  {std::nullopt, std::nullopt, "aten::add_", "optimizer", 10.56, 8.8},
                  {evaluate, std::nullopt, "", "other", 2.56, 2.13}};
  report.whole_lines = {{evaluate, std::nullopt, "aten::conv2d", "evaluation", 1500, 78.95}};
  report.worker_lines = {{reader, std::nullopt, "jpeg_read_scanlines", "loading", 40, 80}};
}

inline Report SampleReport() {
  Report report;
  report.run.command = {"build/train", "--name", "it's a test"};
  report.run.started = "2026-11-21T09:00:00Z";
  report.run.working_directory = "/home/ann/train";
  report.run.cpu = "AMD EPYC 9B14";
  report.run.cores = 2;
  report.run.versions = {{"torch", "2.11.0"}};
  report.run.exit_status = 0;
  report.steps.warmup = 10;
  report.steps.measured = 50;
  report.steps.in_mean = 50;
  report.steps.mean_ms = 120.0;
  report.steps.p50_ms = 119.5;
  report.steps.p95_ms = 131.2;
  report.steps.samples_per_s = 266.67;
  report.steps.per_epoch_ms = 310.0;
  report.breakdown_ms = {21.53, 0, 33.33, 52.02, 10.56, 0, 0, 2.56};
  AddSampleLines(report);
  report.gpu = SampleGpu();
  report.quality = {1204567, 0, 2, 0, true, 0.8, {"the loader's threads share one generator"}, {}};
  report.rules = {{"debug-left-on", Verdict::kFound, ""},
                  {"graph-retained", Verdict::kCannotTell, "no memory marks in the window"},
                  {"needless-copy", Verdict::kClear, ""},
                  {"fp32-compute", Verdict::kNotApplicable, "no 16-bit units"}};
  report.findings = SampleFindings();
  report.trials = SampleTrials();
  report.combined = CombinedRow{{"debug=off", "loader.workers=2"}, 2.43, {{2.31, 2.55}}, 6, "pooled", ""};
  report.noise = {1.8, 3.1};
  report.plan = {"12 blocks of 6 launches"};
  report.output_directory = "loopscope-out/1";
  return report;
}

inline Comparison SampleComparison() {
  Comparison compare;
  compare.before = "monday";
  compare.after = "tuesday";
  compare.obstacles = {"another batch size: 32 against 64 samples per step"};
  compare.differences = {"torch: 2.10.0 against 2.11.0"};
  compare.before_ms = 100.0;
  compare.after_ms = 120.0;
  compare.before_sample_ms = 3.125;
  compare.after_sample_ms = 3.75;
  compare.parts_before_ms = {20, 0, 30, 40, 10, 0, 0, 0};
  compare.parts_after_ms = {21.53, 0, 33.33, 52.02, 10.56, 0, 0, 2.56};
  compare.ops = {{"aten::convolution_backward", false, "slower", 20.5, 32.25, 12, 12},
                 {"sgemm_128x64", true, "appeared", 0, 4.5, 0, 3}};
  compare.ops_left_out = 2;
  compare.new_findings = {{"0123456789ab", "debug-left-on", "anomaly detection is on in all 50 steps"}};
  compare.gone_findings = {{"ba9876543210", "host-sync", "a value is read 50 times"}};
  return compare;
}

// A gate of two workloads: one that fails by its time and its counters, one that passed.
inline GateFacts SampleGate() {
  GateRow fails;
  fails.command = "build/train --preset small";
  fails.against = "base/train --preset small";
  fails.verdict = GateVerdict::kFail;
  fails.reason = "slower by 8.0 % (at most 9.8 % with 95 % confidence), after 9 pairs";
  fails.time =
      GateDecision{GateVerdict::kFail, fails.reason, 0.08, 0.098, 9, {{1.5, 0.4}, {130, 0.02}}, 100, 20, 0.023, 0.032};
  fails.counters_compared = 41;
  fails.counters = {
      {"host reads",
       CounterKind::kSync,
       1,
       2,
       "more",
       true,
       "a new synchronising call",
       {{Where{"loop.cpp", 131, "TrainEpoch"}, 0, 1}}},
      {"anomaly mode", CounterKind::kDebug, {}, {}, "new", true, "a debugging switch is left on", {}},
      {"op aten::add", CounterKind::kCount, 10, 11.5, "more", false, "", {}},
      {"peak bytes on host", CounterKind::kCount, 1e9, 1.1e9, "ignored", false, "varies between runs", {}}};
  fails.grown = {{GrownKind::kPart, "forward", {}, 40, 48},
                 {GrownKind::kLine, "time.sleep", Where{"loop.py", 131, "train_epoch"}, 0, 7.5, true},
                 {GrownKind::kOperator, "aten::add", {}, 1.5, 1.9}};
  fails.notes = {"step times are not compared with the recorded ones: another CPU"};
  fails.launches = {{0, 0, "A", 100.5, "ok"}, {0, 1, "B", std::nullopt, "exit 1"}};
  GateRow passes;
  passes.command = "build/train --preset large";
  passes.against = "base/train --preset large";
  passes.verdict = GateVerdict::kPass;
  passes.reason = "with 95 % confidence slower by at most 1.1 %, which is under the limit of 5.0 %";
  passes.time =
      GateDecision{GateVerdict::kPass, passes.reason, 0.002, 0.011, 6, {{0.9, 1.7}, {0.4, 24}}, 100, 20, 0.02, 0.03};
  passes.why_no_counters = "its launches under tracing ended early";
  return {0.05, {passes, fails}};
}

inline SweepFacts SampleSweep() {
  SweepFacts sweep;
  sweep.axes = {{"loader.workers", {"0", "2"}}, {"loader.pin_memory", {"off", "on"}}};
  sweep.loader_only = true;
  const auto cell = [](std::vector<std::string> values, CellVerdict verdict, double ms) {
    SweepCell one;
    one.values = std::move(values);
    one.verdict = verdict;
    if (ms <= 0) return one;
    one.n = 6, one.ms = ms, one.samples_per_s = 64e3 / ms, one.epoch_ms = 120, one.ratio = ms / 10;
    one.ci95 = {{ms / 10 - 0.05, ms / 10 + 0.05}}, one.peak_bytes = 4e8, one.published_s = 2.5 * ms;
    return one;
  };
  sweep.cells = {cell({"0", "off"}, CellVerdict::kMeasured, 40), cell({"0", "on"}, CellVerdict::kNotApplicable, 0),
                 cell({"2", "off"}, CellVerdict::kBest, 10), cell({"2", "on"}, CellVerdict::kFailed, 0)};
  sweep.cells[0].own = true;
  sweep.cells[1].reason = "there is no accelerator to copy to";
  sweep.cells[3].reason = "in block 2: exit 1: out of memory";
  sweep.best = 2, sweep.stands_out = true;
  sweep.verdict = "loader.workers=2, loader.pin_memory=off is faster than each of its 1 neighbours";
  sweep.comparisons = {{0, 4.0, {{3.8, 4.2}}, 8, 0.0001, 0.0002, "pooled", TrialVerdict::kFaster, ""}};
  sweep.notes = {"4 workers per GPU is a usual start"};
  sweep.published = "four epochs of MNIST in batches of 64";
  return sweep;
}

inline TargetFacts SampleTarget() {
  TargetFacts facts{{"accuracy", 0.9, true}, "marks", 60, {}, {}};
  facts.arms = {
      {"baseline",
       1,
       {},
       {},
       {},
       {{0, true, 41.5, 300, 9600, 0.91, "reached"}, {1, false, 60, 420, 13440, 0.88, "not within the limit"}}},
      {"schedule=onecycle",
       2,
       20.5,
       150,
       4800,
       {{0, true, 20, 145, 4640, 0.9, "reached"}, {1, true, 21, 155, {}, {}, "reached"}}}};
  facts.comparisons = {{"schedule=onecycle", 2, {2.1, 1.9, {}}, {2.0, {}, {}}}};
  return facts;
}

// `text` in every place that comes from outside.
inline Report HostileReport(const std::string& text) {
  Report report = SampleReport();
  report.run.command = {text, text};
  report.run.cpu = report.run.started = report.run.working_directory = text;
  report.run.gpus = {text};
  report.run.versions = report.run.environment = {{text, text}};
  RankRow rank;
  rank.input = text;
  report.per_rank.assign(2, rank);
  report.quality.warnings.assign(50, text);
  for (RuleRow& rule : report.rules) rule.id = rule.reason = text;
  for (Finding& finding : report.findings) {
    finding.title = finding.advice = finding.rule = finding.treatment_id = finding.treatment = text;
    finding.evidence.assign(5, {text, 1, Where{text, 2147483647, text}});
    finding.examples = {{"cpp", text, text + "\n" + text}};
    finding.cost_ms_per_step = 1e300;
    finding.cost_pct = 1e300;
  }
  for (TrialRow& trial : report.trials) {
    trial.treatment = trial.value = trial.reason = trial.exactness = trial.loss.detail = text;
    trial.loss.verdict = LossVerdict::kUnjudged;
    trial.applied = {{text, text, text, text + "2", 0}};
    trial.rules = {text};
    trial.one_time_cost_s = 1e300;
    trial.peak_bytes_treated = 1e300;
  }
  report.combined->treatments.assign(30, text);
  report.combined->reason = report.combined->method = text;
  return report;
}

// Likewise, a comparison of two runs.
inline Report HostileComparison(const std::string& text) {
  Report report = HostileReport(text);
  report.compare = SampleComparison();
  report.compare->before = report.compare->after = text;
  report.compare->obstacles = report.compare->differences = {text, text};
  report.compare->why_no_ops = report.compare->ops[0].change = report.compare->ops[0].name = text;
  report.compare->new_findings = report.compare->gone_findings = {{text, text, text}};
  return report;
}

// Likewise, a gate.
inline Report HostileGate(const std::string& text) {
  Report report = HostileReport(text);
  report.gate = SampleGate();
  for (GateRow& row : report.gate->workloads) {
    row.command = row.against = row.reason = row.error = row.why_no_time = text;
    row.notes = {text, text};
    row.grown.assign(2, {GrownKind::kLine, text, Where{text, 2147483647, text}, 1e300, 1e300, true});
    if (row.time) row.time->reason = text;
    for (CounterRow& counter : row.counters) {
      counter.name = counter.change = counter.reason = text;
      counter.places.assign(1, {Where{text, 2147483647, text}, 1e300, 1e300});
    }
    for (LaunchRow& launch : row.launches) launch.arm = launch.status = text;
  }
  return report;
}

inline Report HostileSweep(const std::string& text) {
  Report report = HostileReport(text);
  report.sweep = SampleSweep();
  report.sweep->verdict = report.sweep->published = text;
  report.sweep->notes = {text};
  // The keys stay different: a table cannot have two columns of one name.
  for (std::size_t n = 0; SweepAxis & axis : report.sweep->axes) {
    axis.key = std::string(n++, '+') + text, axis.values.assign(axis.values.size(), text);
  }
  for (SweepCell& cell : report.sweep->cells) cell.reason = text, cell.values.assign(cell.values.size(), text);
  for (SweepComparison& one : report.sweep->comparisons) one.reason = text;
  return report;
}

inline Report HostileTarget(const std::string& text) {
  Report report = HostileReport(text);
  report.target = SampleTarget();
  report.target->target.metric = text;
  for (TargetArm& arm : report.target->arms) {
    arm.name = text;
    for (TargetRun& run : arm.runs) run.status = text;
  }
  for (TargetComparison& one : report.target->comparisons) one.name = text;
  return report;
}

}  // namespace loopscope::test
