// The treatment seam: one fix is one constant in its family's file in profiler/treatments/ and one line in
// treatments.def. The code that acts inside the child has the stem listed there: a file of probes/torch/treatments/ or
// probes/python/treatments/; or it is a knob in workloads/.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/host.h"
#include "profiler/core/report/finding.h"

namespace loopscope {

// How the treated training relates to the baseline's: what check launches verify.
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
  std::string_view item = {};        // for a list "a:1,b:2": only this entry is set, to True or False
};

// How far a loader runs ahead of the loop is its number of workers times the batches that each prepares.
enum class RunAheadFactor { kNeither, kWorkers, kPrefetch };

// A few names in a constant.
class Names {
 public:
  consteval Names() = default;
  consteval Names(std::initializer_list<std::string_view> names) : count_(names.size()) {
    std::ranges::copy(names, names_.begin());
  }
  constexpr const std::string_view* begin() const { return names_.data(); }
  constexpr const std::string_view* end() const { return begin() + count_; }
  constexpr std::size_t size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }

 private:
  std::array<std::string_view, 6> names_{};
  std::size_t count_ = 0;
};

struct Treatment {
  std::string_view id;       // "loader.workers"
  std::string_view summary;  // one line for `treatments`
  Exactness exactness;
  std::string_view condition = {};  // for kExactIf: when it is exact; else empty
  Metric metric = Metric::kStepTime;
  Names cures = {};     // rule ids
  Names appliers = {};  // "torch", "python", "knob:train_image", "environment"
  Names values = {};    // worth trying, the likeliest first; empty: chosen by the user or by `choose`
  bool needs_gpu = false;
  // Computes the values if they depend on the finding or on the machine.
  std::vector<std::string> (*choose)(const Finding&, const Host&) = nullptr;
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

  // The values worth trying for this finding on this machine, the likeliest first; empty: does not apply.
  std::vector<std::string> ValuesFor(const Finding& finding, const Host& host) const;
};

}  // namespace loopscope
