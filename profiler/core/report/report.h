// Everything in a report, as in reports/schema.json ("loopscope.report/1"). Numbers are absent where unknown.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/comparison.h"
#include "profiler/core/report/finding.h"
#include "profiler/core/report/gate.h"
#include "profiler/core/report/headroom.h"
#include "profiler/core/report/step_facts.h"
#include "profiler/core/report/sweep.h"
#include "profiler/core/report/target.h"
#include "profiler/core/report/trial.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// What the devices did, over all of them. Microseconds over the window. idle + compute + other = span.
struct GpuFacts {
  std::string definitions =
      "loopscope";  // or "hta": those of Holistic Trace Analysis, see profiler/core/timeline/hta.h
  int devices = 0;
  int steps = 0;  // in the window, which is these steady steps; 0: all that the devices did
  // Why some device work is not in the trace; empty if all is. If set, busy time is a lower bound: idle time and shares
  // are unknown.
  std::string incomplete;
  double span_us = 0, idle_us = 0, compute_us = 0, communication_us = 0, memory_us = 0;
  double other_us = 0;  // communication or memory without compute
  std::optional<double> busy_pct, idle_pct;
  std::optional<double> comm_overlap_pct;                         // of communication, under compute
  std::optional<double> launch_delay_us, queue_depth;             // of the busiest device: see DeviceTimeline
  std::array<std::optional<double>, kIdleCauses> idle_causes_us;  // sum to idle_us; absent under hta, and unknown
};

struct RankSummary;

struct RuleRow {
  std::string id;
  Verdict verdict = Verdict::kClear;
  std::string reason;
  std::string judges = "";  // TimeName() of the time that it looks at as a whole; "": none
};

// One rank of several; all times per step.
struct RankRow {
  int rank = 0;
  std::string node;    // the machine that it ran on; "": unknown
  std::string input;   // where it was read from
  bool shown = false;  // the report's steps, breakdown and findings are this rank's
  int steps = 0;
  std::optional<double> mean_ms;
  std::optional<double> own_ms;                    // without the time in which it only communicated
  std::optional<double> communication_exposed_ms;  // that time
  std::optional<double> loader_wait_ms;
  std::optional<double> busy_pct;  // of its devices
};

// The collectives of one process group, kind and phase, of the rank that the report shows; per step.
struct CollectiveRow {
  std::string group, operation;  // "0 (default_pg)", "allreduce"
  std::string phase;             // in which they were launched: "backward"; "" unknown
  int ranks = 0;                 // in the group; 0 unknown
  double count = 0, ms = 0;
  double exposed_ms = 0;                   // while the rank did nothing else
  std::optional<double> mbytes;            // of messages
  std::optional<double> bus_gbytes_per_s;  // what the links carried once the last rank had arrived
  std::optional<double> skew_ms;           // of it, waiting for the last rank; unknown with one rank's trace
};

// Operators at one place that have another form.
struct FormRow {
  std::string form;  // "attention-written-out"
  std::optional<Where> where;
  double ms = 0, uses = 0;      // per step, forward and backward; how often
  std::optional<double> ratio;  // time of the other form over that of the program's own; absent: not tried
};

struct Report {
  RunInfo run;
  StepFacts steps;
  std::array<std::optional<double>, kParts> breakdown_ms;
  std::optional<WholeFacts> whole;
  std::vector<LineRow> lines;        // sum to steps.mean_ms, costliest first; empty where no lines are known
  std::vector<LineRow> whole_lines;  // of one start-up, one epoch's start and one evaluation
  std::vector<LineRow> worker_lines;
  std::optional<GpuFacts> gpu;  // absent without a device
  std::optional<Headroom> headroom;
  std::vector<FormRow> forms;  // costliest first
  Quality quality;
  std::vector<RuleRow> rules;
  std::vector<Finding> findings;  // kFound only, costliest first
  std::vector<TrialRow> trials;
  std::optional<CombinedRow> combined;
  NoiseFacts noise;
  std::vector<std::string> plan;             // an experiment's plan, as printed before it began
  std::vector<CollectiveRow> collectives;    // costliest first; empty where none were recorded
  std::vector<RankRow> per_rank;             // by rank; empty when one rank was recorded
  std::optional<Comparison> compare;         // with the run before this one
  std::optional<GateFacts> gate;             // of `gate`
  std::optional<SweepFacts> sweep;           // of `sweep`
  std::optional<TargetFacts> target;         // of `prove --target`
  std::string output_directory;              // where captures and the report lie; may be empty
  std::shared_ptr<const Timeline> timeline;  // null when the report was read from JSON
};

// Absent when the trace holds no work of a device.
std::optional<GpuFacts> GpuFactsOf(const Timeline& timeline);
std::optional<GpuFacts> GpuFactsByHta(const Timeline& timeline);

StepFacts StepFactsOf(const Timeline& timeline);
std::optional<WholeFacts> WholeFactsOf(const Timeline& timeline);
// The lines of an average step; empty where none are known.
std::vector<LineRow> LineRowsOf(const Timeline& timeline);
// Those of one epoch's start and one evaluation, and those of a loader's worker for one batch.
std::vector<LineRow> WholeLineRowsOf(const Timeline& timeline);
std::vector<LineRow> WorkerLineRowsOf(const Timeline& timeline);
std::vector<CollectiveRow> CollectiveRowsOf(const Timeline& timeline);
// Adds what other ranks show of the same collectives: waiting for the last one, and what the links carry once it is
// there.
void CompareCollectives(std::span<const RankSummary> ranks, std::vector<CollectiveRow>& rows);

// The diagnosis part of a report: run, steps, breakdown, devices, quality and (empty) rules and findings.
Report ReportOf(std::shared_ptr<const Timeline> timeline);

}  // namespace loopscope
