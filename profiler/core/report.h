// Everything a report says, as in reports/schema.json ("loopscope.report/1"). Numbers are absent where unknown.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/finding.h"
#include "profiler/core/timeline.h"

namespace loopscope {

struct StepFacts {
  int warmup = 0, measured = 0;
  std::optional<double> mean_ms, p50_ms, p95_ms, samples_per_s, per_epoch_ms;
};

struct RuleRow {
  std::string id;
  Verdict verdict = Verdict::kClear;
  std::string reason;
};

struct LaunchRow {
  int block = 0, order = 0;          // block -1: warm-up or check launch
  std::string arm;                   // "baseline", "ALL", "ALL-amp", "amp"
  std::optional<double> ms_per_step;
  std::string status;                // "ok", "exit 1", "signal 9", "no steps", "timeout"
};

struct LossFacts {
  std::vector<double> baseline, treated;  // check launches, by step
  std::optional<double> max_difference;
  std::string verdict;                    // "bit-identical", "within rounding", "same samples", "different", "cannot tell: …"
};

struct TrialRow {
  std::string treatment, value;   // "loader.workers", "2"
  std::string context;            // "alone" | "with-others"
  std::vector<std::string> rules;
  std::string metric = "step-time";  // step-time | epoch-boundary | peak-memory
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> ci95;
  int n = 0;
  std::optional<double> p, p_holm;
  std::string method;             // exact | pooled | live
  std::string verdict;            // faster|slower|equivalent|inconclusive|different-training|not-applicable|dropped|failed|useful
  std::string reason;
  std::optional<double> margin_pct;      // "equivalent within ±margin"
  std::optional<double> detectable_pct;  // the smallest effect that this comparison could have called
  std::vector<Applied> applied;
  std::string exactness;
  LossFacts loss;
  std::optional<double> peak_bytes_baseline, peak_bytes_treated;
  std::optional<double> one_time_cost_s;
  std::vector<LaunchRow> launches;
};

struct CombinedRow {
  std::vector<std::string> treatments;  // "key=value"
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> ci95;
  int n = 0;
  std::string method, reason;           // reason: why there is none
};

struct NoiseFacts {
  std::optional<double> pair_sd_pct, detectable_pct;
};

struct Report {
  RunInfo run;
  StepFacts steps;
  std::array<std::optional<double>, kParts> breakdown_ms;
  Quality quality;
  std::vector<RuleRow> rules;
  std::vector<Finding> findings;   // kFound only, costliest first
  std::vector<TrialRow> trials;
  std::optional<CombinedRow> combined;
  NoiseFacts noise;
  std::vector<std::string> plan;   // of an experiment, as it was printed before it began
  std::string output_directory;    // where captures and the report lie; may be empty
  std::shared_ptr<const Timeline> timeline;  // null when the report was read from JSON
};

// The diagnosis part of a report: run, steps, breakdown, quality and (empty) rules and findings.
Report ReportOf(std::shared_ptr<const Timeline> timeline);

}  // namespace loopscope
