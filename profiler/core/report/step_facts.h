// The figures of an average step, of the whole run, and of the lines that their time goes to. Absent where unknown.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/trace/place.h"

namespace loopscope {

enum class ClockSource { kMark, kOptimizer, kBackward, kTrace };
std::string_view ClockSourceName(ClockSource source);  // "mark", "optimizer", "backward", "trace"

// What a step is. Counts are means over the steady steps; absent where the trace does not show them.
struct ClockFacts {
  std::string ends_with;  // "optimizer:SGD#1", "mark", "nvtx:step", "backward", "gradient", "ProfilerStep"
  ClockSource found_by = ClockSource::kTrace;
  bool guessed = false;  // from backward passes: every figure per step is a guess
  std::optional<double> batches, backwards, optimizer_calls;
};

struct StepFacts {
  int warmup = 0, measured = 0;  // measured: steps of the window but epoch boundaries, operators recorded
  std::optional<double> mean_ms, p50_ms, p95_ms, samples_per_s, per_epoch_ms;
  int without_operators = 0;  // further plain steps of the window, whose operators were not recorded
  std::optional<ClockFacts> clock;
  std::optional<double> trend_pct;  // by how much steps get longer over the window; absent without a trend
  int in_mean = 0;                  // steps of the window that mean_ms, p50_ms and p95_ms are taken over
  int disturbed = 0;  // further ones, which were slowed down: details were recorded, or calls followed, in them
  int transient = 0;  // steps after warm-up that are not in mean_ms, since the loop had not settled
  std::optional<double> transient_mean_ms;
};

// Parts of the run as far as it was seen, in ms; they sum to it.
struct WholeFacts {
  double start_up_ms = 0, steps_ms = 0, epoch_starts_ms = 0, evaluation_ms = 0, other_between_steps_ms = 0;
  int steps = 0, epoch_starts = 0, evaluations = 0;
  double total_ms() const { return start_up_ms + steps_ms + epoch_starts_ms + evaluation_ms + other_between_steps_ms; }
};

// A line of the program and what it costs.
struct LineRow {
  std::optional<Where> where;    // innermost frame of the user's code; absent: no line is known for this time
  std::optional<Where> library;  // where that only calls a library: the library's innermost frame
  std::string what;      // what runs there most: an operator ("aten::multinomial") or a function ("gc.collect"); may be
                         // empty, the line's own code
  std::string phase;     // in lines: a part of the step ("forward"); in whole_lines: "epoch_start",
                         // "evaluation", "other_between_steps"; in worker_lines: "loading"
  double ms = 0;         // per step; in whole_lines per occurrence; in worker_lines per batch
  double share_pct = 0;  // of the step, the occurrence or the batch
  std::optional<double> what_ms = {}, operators_ms = {};  // of ms: in `what`; in operators of PyTorch
};

}  // namespace loopscope
