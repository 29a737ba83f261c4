// The treatment seam: one fix is one file in profiler/treatments/ and one line in treatments.def. What acts inside the
// child has the same stem: probes/torch/treatments/, probes/python/treatments/, or a knob in workloads/.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/host.h"
#include "profiler/core/report/finding.h"

namespace loopscope {

// How the treated training relates to the baseline's: what the check launches are held to.
enum class Exactness { kExact, kExactIf, kResampled, kNumeric, kChangesTraining };
std::string_view ExactnessName(Exactness exactness);  // "exact", "exact-if", "resampled", "numeric", "changes-training"

// What a treatment is judged by, fixed before the first block.
// kSampleTime: when the arms' steps hold different numbers of samples. kTimeToTarget: only `prove --target` judges it.
enum class Metric { kStepTime, kEpochBoundary, kPeakMemory, kSampleTime, kTimeToTarget };
std::string_view MetricName(Metric metric);  // "step-time", "epoch-boundary", "peak-memory", "sample-time", …

// An environment variable through which the launcher applies a treatment.
struct EnvironmentVariable {
  std::string_view name;
  std::string_view newer_name = {};  // set instead of it if the program's environment has this one
  std::string_view item = {};        // of a list "a:1,b:2": only this one is set, to True or False
};

// How far a loader runs ahead of the loop is its number of workers times the batches that each prepares.
enum class RunAheadFactor { kNeither, kWorkers, kPrefetch };

struct Treatment {
  std::string_view id;       // "loader.workers"
  std::string_view summary;  // one line for `treatments`
  Exactness exactness;
  std::string_view condition;  // for kExactIf: when it is exact; else empty
  Metric metric;
  std::span<const std::string_view> cures;     // rule ids
  std::span<const std::string_view> appliers;  // "torch", "python", "knob:train_image", "environment"
  // The values worth trying for this finding on this machine, the likeliest first; empty: does not apply.
  std::vector<std::string> (*values)(const Finding&, const Host&);
  // Its appliers can switch it on and off between steps, so that it is offered for live pairs.
  bool live = false;
  // Its values are "on" and "off".
  bool is_switch = false;
  // The program compiles its model for it, at the start of every launch.
  bool compiles = false;
  // Which factor of the loader's run-ahead its values set: windows have to be longer than the run-ahead.
  RunAheadFactor run_ahead = RunAheadFactor::kNeither;
  // With the applier "environment": what is set before the program starts.
  std::span<const EnvironmentVariable> environment = {};
};

}  // namespace loopscope
