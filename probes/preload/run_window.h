// The bounded run: which steps are measured, when ops are recorded and with how much detail, and when the run is over.
// In a long window, and in one with short steps, all ops are recorded in the first steps and then only in some. Counts
// steps and epoch boundaries; has no clock and writes nothing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace loopscope {

struct WindowSettings {
  std::uint64_t warmup = 10;    // steps before the window; at least 1: the window opens at a step's end
  std::uint64_t steps = 50;     // in the window; 0: to the program's own end
  std::uint64_t detail = 5;     // steps in the detail window after warm-up; 0: no detail anywhere
  std::uint64_t all_ops = 0;    // the first so many have their ops recorded, then one in kThinnedTo; 0: all of them
  std::uint64_t early_ops = 0;  // the same while thinned early
  std::uint64_t least_ops = 0;  // the window stays open until so many of its steps (no more than `steps`) had theirs …
  std::uint64_t more_ns = 0;    // … but no longer than this after `steps`
  bool until_epoch = false;     // go on until an epoch boundary and the training after it were seen
  std::uint64_t time_ns = 0;    // … but no longer than this after the window closed
  bool ends_together = false;   // at the time limit the end is proposed, and comes at the step of EndAt()
};

inline constexpr std::uint64_t kThinnedTo = 4;

// When thinning of ops begins.
enum class Thinning {
  kNever,  // a step's records mean nothing without the previous steps
  kLate,   // after the first `all_ops` steps
  kEarly,  // after the first `early_ops`: recording ops slows the steps down
};

// What the caller has to do after an event.
struct WindowActions {
  bool measure_begin = false, measure_end = false, finish = false;
  std::uint64_t propose_end = 0;  // the step, from the run's start, at which all ranks may still end; 0: none
};

class RunWindow {
 public:
  void Start(const WindowSettings& settings) {
    settings_ = settings;
    if (settings_.warmup == 0) settings_.warmup = 1;
  }

  void Thin(Thinning thinning) { thinning_ = thinning; }

  // A step of the chosen clock ended. Without `now` it ended earlier: the window does not open there, since it is too
  // late for the details.
  WindowActions StepEnded(std::uint64_t time_ns, bool now = true) {
    WindowActions actions;
    if (phase_ == Phase::kDone) return actions;
    with_ops_ += phase_ == Phase::kMeasuring && record_ops() ? 1 : 0;
    ++total_;
    if (boundary_ == Boundary::kTraining && ++steps_after_boundary_ >= 2) boundary_ = Boundary::kSeen;
    if (phase_ == Phase::kWarmup && total_ >= settings_.warmup && now) {
      phase_ = Phase::kMeasuring;
      actions.measure_begin = true;
      return actions;
    }
    if (phase_ == Phase::kMeasuring && ++measured_ >= settings_.steps && HasEnough(time_ns)) {
      actions.measure_end = true;
      phase_ = Phase::kWaiting;
      waiting_since_ns_ = time_ns;
    }
    if (phase_ != Phase::kWaiting) return actions;
    actions.finish = BoundaryDone() || (end_at_ != 0 && total_ >= end_at_);
    if (!actions.finish && end_at_ == 0 && time_ns - waiting_since_ns_ >= settings_.time_ns) {
      actions.finish = !settings_.ends_together;
      actions.propose_end = settings_.ends_together ? total_ + 1 : 0;
    }
    if (actions.finish) phase_ = Phase::kDone;
    return actions;
  }

  // A timed window closes at the end of the current step, whatever its planned length.
  void EndWithThisStep() { settings_.steps = measured_ + 1; }

  // The ranks end at this step, or at the next one if that is past already.
  void EndAt(std::uint64_t step) { end_at_ = step; }

  // The training loader ran out. Epochs before the window are not counted.
  void EpochEnding() {
    if (boundary_ == Boundary::kNone && phase_ != Phase::kWarmup) boundary_ = Boundary::kInside;
  }
  // Training goes on after an epoch boundary.
  void EpochStarted() {
    loader_seen_ = true;
    if (boundary_ == Boundary::kInside) boundary_ = Boundary::kTraining;
  }

  bool detail() const {
    if (settings_.detail == 0) return false;
    return at_boundary() || (phase_ == Phase::kMeasuring && measured_ < settings_.detail);
  }
  // The step's place in the detail window after warm-up, from 0; -1 outside.
  std::int64_t detail_index() const {
    return phase_ == Phase::kMeasuring && measured_ < settings_.detail ? static_cast<std::int64_t>(measured_) : -1;
  }
  // An epoch has ended, and the training after it goes on for less than two steps.
  bool at_boundary() const { return boundary_ == Boundary::kInside || boundary_ == Boundary::kTraining; }
  bool record_ops() const {
    if (phase_ == Phase::kMeasuring) return at_boundary() || IsRecorded(measured_);
    return phase_ == Phase::kWarmup || (phase_ == Phase::kWaiting && at_boundary());
  }
  // Whether this step's time can show that recording ops slows steps down.
  bool weighs_ops() const {
    return phase_ == Phase::kMeasuring && measured_ < settings_.early_ops && record_ops() && !detail();
  }
  // The next step may be the one that opens or closes the window.
  bool at_edge() const {
    const bool fills = phase_ == Phase::kMeasuring && settings_.steps != 0 && measured_ + 1 >= settings_.steps;
    return fills || (phase_ == Phase::kWarmup && total_ + 1 >= settings_.warmup);
  }
  bool warming_up() const { return phase_ == Phase::kWarmup; }
  bool measuring() const { return phase_ == Phase::kMeasuring; }
  // Over, but the ranks have no agreed end yet.
  bool awaits_common_end() const { return settings_.ends_together && phase_ == Phase::kWaiting && end_at_ == 0; }
  std::uint64_t measured() const { return measured_; }

 private:
  // One step of every kThinnedTo, at a position drawn from a hash, so that periodic work is sampled as often as
  // anything else. Ranks record the same steps.
  bool IsRecorded(std::uint64_t step) const {
    const std::uint64_t all = thinning_ == Thinning::kEarly ? settings_.early_ops : settings_.all_ops;
    if (thinning_ == Thinning::kNever || settings_.all_ops == 0 || step < all) return true;
    const std::uint64_t beyond = step - all;
    std::uint64_t hash = beyond / kThinnedTo * 0x9e3779b97f4a7c15ull;  // splitmix64's constants
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
    return beyond % kThinnedTo == (hash >> 32) % kThinnedTo;
  }

  enum class Phase { kWarmup, kMeasuring, kWaiting, kDone };
  enum class Boundary { kNone, kInside, kTraining, kSeen };

  // Called once the window holds its steps.
  bool HasEnough(std::uint64_t time_ns) {
    if (settings_.steps == 0) return false;
    if (measured_ == settings_.steps) full_since_ns_ = time_ns;
    return with_ops_ >= std::min(settings_.least_ops, settings_.steps) || time_ns - full_since_ns_ >= settings_.more_ns;
  }
  bool BoundaryDone() const { return !settings_.until_epoch || !loader_seen_ || boundary_ == Boundary::kSeen; }

  WindowSettings settings_;
  Phase phase_ = Phase::kWarmup;
  Boundary boundary_ = Boundary::kNone;
  Thinning thinning_ = Thinning::kLate;
  bool loader_seen_ = false;
  std::uint64_t total_ = 0, measured_ = 0, with_ops_ = 0, steps_after_boundary_ = 0, full_since_ns_ = 0,
                waiting_since_ns_ = 0;
  std::uint64_t end_at_ = 0;
};

}  // namespace loopscope
