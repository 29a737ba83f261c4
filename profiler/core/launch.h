// One launch of the user's program: what experiments ask for and what its capture shows. Experiments see only
// `Launcher`, so that statistics can be tested with a scripted one, without a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "profiler/core/launch_status.h"
#include "profiler/core/report/target.h"
#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// In the output folder of `run`, while the program runs: run.json and captures.
inline constexpr char kRecordingName[] = "recording";

enum class LaunchMode { kTrace, kClock, kCheck };

// Treatments that are switched at step ends within one launch: each round runs every arm once, in random order, for
// `block_steps` steps.
struct LiveSchedule {
  std::vector<std::pair<std::string, std::string>> treatments;  // key, value; at most kMostLiveTreatments
  std::vector<std::uint32_t> arms;  // treatments that are on, as bits; at most kMostLiveArms
  int block_steps = 0;
  std::uint64_t seed = 1;
  double seconds =
      0;  // from the launch's start: no round is begun that may not end by then; 0: until its steps are done
};
inline constexpr std::size_t kMostLiveTreatments = 26, kMostLiveArms = 64;  // same as in probes/preload/live.cpp

// One block of steps in such a launch.
struct LiveBlock {
  std::uint32_t on = 0, acted = 0;  // bits of the schedule's treatments: asked for; changed something
  std::vector<double> step_ms;      // of its plain steps in order; 0 for a step at an epoch boundary
};

inline constexpr double kLaunchTimeoutS = 600;

struct LaunchSpec {
  LaunchMode mode = LaunchMode::kClock;
  int side = 0;  // which of the launcher's commands: `ab` and `gate` have several
  std::vector<std::pair<std::string, std::string>> treatment;  // key, value
  int warmup = 10, steps = 50;                                 // steps 0: until the program ends
  double time_s = 0;                                           // trace mode: --time; else 0
  std::uint64_t max_capture_bytes = 0;                         // of each process; 0: the recorder's default
  bool all_operators = false;                                  // trace mode: record those of every step, however short
  std::string clock;                                           // the step clock fixed by the diagnosis; empty = choose
  std::optional<std::uint64_t> seed;
  bool hash_samples = false;  // LOOPSCOPE_SAMPLE_RNG=hash
  bool whole_epochs = false;  // the window holds whole epochs: their first steps count, from the loader's start
  std::optional<LiveSchedule> live = {};
  int turn_steps = 0;                  // side by side: steps in one turn
  std::string label;                   // "block 3, ALL-amp": names the launch's folder and messages
  std::optional<TargetWatch> target;   // the launch ends when it is reached; a timeout is then not a failure
  double timeout_s = kLaunchTimeoutS;  // after this it is ended: LaunchEnd::kTimeout
};

struct LaunchResult {
  LaunchStatus status = {};
  std::string tail;                // last lines of output when it failed
  int exit_status = 0;             // as a shell reports it (128 + signal)
  std::string clock;               // the clock its steps were counted by
  double ms_per_step = 0;          // wall time of the window / steps, without epoch boundaries (but see whole_epochs)
  double ms_per_sample = 0;        // 0 when the samples per step are unknown
  int steps = 0;                   // in the window, without boundaries
  std::optional<double> epoch_ms;  // mean length of the window's boundary steps minus a plain step; empty without any
  int steps_per_epoch = 0;         // in the last whole epoch seen, warm-up included; 0 unknown
  int run_ahead = 0;               // batches its dataloader prefetches: workers x prefetch; 0 none or unknown
  int settled_after = 0;           // steps from the start until their times settle (series.h)
  double step_drift = 0;           // ln(mean of the window's last third of plain steps / of its first third)
  double startup_s = 0;            // from exec to the end of warm-up
  double wall_s = 0;               // whole launch
  double peak_bytes = 0;           // 0 unknown
  std::vector<Applied> applied;
  std::vector<double> losses;                // check mode
  std::vector<std::uint64_t> sample_hashes;  // check mode
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<LiveBlock> live;  // of a LiveSchedule: whole blocks only
  // For a launch with a target:
  std::optional<double> target_s;           // from the program's start; empty: never reached
  double steps_seen = 0, samples_seen = 0;  // until then, or until its end; samples 0: unknown
  std::optional<double> best_metric;        // empty: the metric was never reported
  std::string directory;                    // where its capture is
  bool ok() const { return status.end == LaunchEnd::kOk; }
};

class Launcher {
 public:
  using One = std::function<LaunchResult(const LaunchSpec&)>;
  // Starts the launches together; they take turns of `turn_steps` steps, in random order in each round, each alone on
  // the machine. Results are in the order of the specs. Error: why they cannot run this way.
  using SideBySide = std::function<Result<std::vector<LaunchResult>>(std::span<const LaunchSpec>)>;

  template <class Callable>
    requires std::is_invocable_r_v<LaunchResult, Callable, const LaunchSpec&>
  Launcher(Callable one, SideBySide side_by_side = nullptr)  // NOLINT: a function that launches is a launcher
      : one_(std::move(one)), side_by_side_(std::move(side_by_side)) {}

  LaunchResult operator()(const LaunchSpec& spec) const { return one_(spec); }
  const SideBySide& side_by_side() const { return side_by_side_; }  // null: launches are made one after another

 private:
  One one_;
  SideBySide side_by_side_;
};

// Reads what experiments need from the capture of a clock or check launch; kNoSteps when the window never opened or
// never closed. `whole_epochs`: as in LaunchSpec.
LaunchResult LaunchFacts(const Trace& trace, bool whole_epochs = false);

}  // namespace loopscope
