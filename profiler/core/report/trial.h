// What an experiment found, as reports show it. Numbers are absent where unknown.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

struct LaunchRow {
  int block = 0, order = 0;  // block -1: warm-up or check launch
  std::string arm;           // "baseline", "ALL", "ALL-amp", "amp"
  std::optional<double> ms_per_step;
  std::string status;  // "ok", "exit 1", "signal 9", "no steps", "timeout"
};

// Whether a treated loop still trains the same thing.
enum class LossVerdict {
  kUnjudged,
  kBitIdentical,
  kSameSamples,
  kWithinRounding,
  kWithinSpread,  // within the spread of untreated launches
  kDifferent,
  kCannotTell
};
std::string_view LossVerdictName(LossVerdict verdict);  // "bit-identical", "cannot tell", …; "" for kUnjudged

struct LossFacts {
  std::vector<double> baseline = {}, treated = {};  // check launches, by step
  std::optional<double> max_difference = {};
  LossVerdict verdict = LossVerdict::kUnjudged;
  std::string detail = {};         // how it differs, or why that is unknown
  bool only_draws_differ = false;  // cannot tell: the samples are the same, but not the random numbers for each
};

// "different: the losses should be the same bit for bit", as reports show it; and back.
std::string LossText(const LossFacts& loss);
void SetLossText(std::string_view text, LossFacts& loss);

// The verdict of one comparison in an experiment; kOpen: not finished.
enum class TrialVerdict {
  kOpen,
  kFaster,
  kSlower,
  kEquivalent,
  kInconclusive,
  kDifferentTraining,
  kNotApplicable,
  kDropped,
  kFailed,
  kUseful
};
std::string_view TrialVerdictName(TrialVerdict verdict);  // "faster", "different-training", …; "" for kOpen

// TrialRow::treatment for `ab`, which compares two commands: its value is the second.
inline constexpr std::string_view kCommandB = "B";

struct TrialRow {
  std::string treatment, value;  // "loader.workers", "2"
  std::string context;           // "alone" | "with-others"
  std::vector<std::string> rules;
  std::string metric = "step-time";  // step-time | epoch-boundary | peak-memory
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> ci95;
  int n = 0;
  std::optional<double> p, p_holm;
  std::string method;  // exact | pooled | live
  TrialVerdict verdict = TrialVerdict::kOpen;
  std::string reason;
  std::optional<double> margin_pct;      // "equivalent within ±margin"
  std::optional<double> detectable_pct;  // the smallest effect that this comparison could have detected
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
  std::string method, reason;  // reason: why there is none
};

struct NoiseFacts {
  std::optional<double> pair_sd_pct, detectable_pct;
};

}  // namespace loopscope
