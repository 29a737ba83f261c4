// The launches before the blocks: one discarded launch per arm, which warms caches and gives the timings that windows
// and plan are made from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/experiments/arm.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/launch_window.h"

namespace loopscope {

class PilotRun {
 public:
  // `window`: of the pilots. The options and the series must outlive it.
  PilotRun(const ExperimentOptions& options, std::string clock, LaunchWindow window, LaunchSeries& series)
      : options_(&options), clock_(std::move(clock)), window_(window), series_(&series) {}

  const std::string& clock() const { return clock_; }
  void CountBy(const std::string& clock) { clock_ = clock; }
  const LaunchWindow& window() const { return window_; }

  LaunchSpec Spec(const Arm& arm, std::string_view phase) const;  // labelled "<phase>, <name of the arm>"
  LaunchResult Launch(const Arm& arm, std::string_view phase = "pilot");

  // Launches independent arms, one result each: start-ups overlap if programs can take turns, and each runs its steps
  // alone. A launch's wall_s is then its share of the group's.
  std::vector<LaunchResult> LaunchBeside(std::span<const Arm> arms, std::string_view phase = "pilot");

  // When arms' loaders run ahead by different numbers of batches, the blocks' window holds whole epochs (WholeEpochs).
  void set_epoch(int steps) { epoch_ = steps; }
  // Like set_epoch, also for the pilots that are still to come. Returns whether their window holds whole epochs now.
  bool HoldEpochs(int steps);

  // Requirements of the blocks' window besides the requested time.
  struct Needs {
    int run_ahead = 0;        // batches
    int steps_per_epoch = 0;  // as in FinalWindow
  };
  // The window of the blocks. Puts into the arms, which carry their pilots' timings, how long a launch with it takes.
  LaunchWindow FinalWindowOf(std::span<Arm> arms, const Needs& needs) const;

 private:
  const ExperimentOptions* options_;
  std::string clock_;
  LaunchWindow window_;
  LaunchSeries* series_;
  int epoch_ = 0;  // steps, where windows hold whole epochs; else 0
};

}  // namespace loopscope
