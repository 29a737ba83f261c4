// What an experiment will launch: arms, blocks and windows, shaped by the pilots' timings and the budget.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/trial.h"
#include "profiler/core/treatment.h"
#include "profiler/experiments/arm.h"
#include "profiler/experiments/launch_window.h"

namespace loopscope {

// A comparison planned before the first block: a fix among the others or alone, or a command against another.
struct PlannedComparison {
  int subject = 0;          // index of what is tried
  bool with_others = true;  // T(ALL-i) / T(ALL); else T(baseline) / T(i)
  int arm = 0, reference = 0;
  Metric metric = Metric::kStepTime;           // that judges the subject
  TrialVerdict verdict = TrialVerdict::kOpen;  // set when it ended early: failed, dropped
  std::string reason = {};
  bool open() const { return verdict == TrialVerdict::kOpen; }  // it still runs
};

inline constexpr int kBaselineArm = 0, kAllArm = 1;

struct ExperimentPlan {
  std::vector<Arm> arms;
  std::vector<PlannedComparison> comparisons;
  bool wants_fresh = true;  // false for `ab`: its pairs are the answer
  bool by_bets = false;     // looked at after each block (CompareByBets), whatever the number of blocks
  bool set_known = false;   // ALL was compared with the baseline before: only fixes alone need the baseline again
  int blocks = 0;
  int fresh_blocks = 0;       // reserved for the recommended set; more are run when time is left
  bool side_by_side = false;  // the launches of a block are, in turns
  int left_out = 0;           // fixes without blocks
  std::string clock;          // ends the steps of every launch; empty: each program's own
  LaunchWindow window;
  double block_s = 0, fresh_block_s = 0;
  std::string shortage;  // what the budget does not allow; may be empty

  double seconds() const { return blocks * block_s + fresh_blocks * fresh_block_s; }
  int launches_per_block() const;
  bool any_open() const;                    // comparisons that still run
  int subjects_without_comparison() const;  // of which none is open any more
  // Gives the verdict to the arm's comparisons that still run; the arm is not launched any more.
  void EndComparisons(int arm, TrialVerdict verdict, const std::string& reason);
  std::vector<std::string> Describe(double spent_s) const;
};

// The options with the warm-up that every arm gets: for --warmup auto the longest that any arm's pilot needed.
ExperimentOptions WithWarmup(ExperimentOptions options, std::span<const Arm> arms);

// Steps of a turn, where a block's launches run side by side: 40 ms of the fastest arm, one step at least. Longer
// disturbances of the machine hit all arms alike, and switching programs costs little (cold caches: about a
// millisecond).
int TurnSteps(const ExperimentPlan& plan);

// The line of a plan that describes the turns.
std::string DescribeTurns(const ExperimentPlan& plan);

// Chooses blocks, repeats of the reference (about sqrt(k) times in the pooled form, Dunnett's allocation) and alone
// arms so that the blocks and at least four fresh ones fit in `seconds_left`. Arms carry their pilots' timings, or
// guesses; then their pilots must fit too, and it is called again after them. Where four blocks of all fixes do not
// fit, the last ones (the least costly) are left out, down to three, and to one where four blocks of three do not fit
// either: four blocks of some fixes show more than three of all.
void ShapePlan(ExperimentPlan& plan, const ExperimentOptions& options, double seconds_left);

}  // namespace loopscope
