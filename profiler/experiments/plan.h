// What an experiment will launch: arms, blocks and windows, shaped by the pilots' timings and the budget.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/experiments/candidates.h"
#include "profiler/experiments/window.h"

namespace loopscope {

// One way to run the program: some of the candidates switched on.
struct Arm {
  std::string name;                    // "baseline", "ALL", "ALL-amp", "amp"
  std::vector<int> members;            // indices of candidates, ascending
  int repeats = 1;                     // per block
  int side = 0;                        // of `ab`
  double ms_per_step = 0, wall_s = 0;  // from its pilot; wall_s of one launch with the plan's window
  int settled_after = 0;               // steps, from its pilot
  bool to_pilot = false;               // its pilot is yet to be launched: wall_s is a guess
};

// A comparison that is planned before the first block: a fix's worth is its worth among the others, or alone.
struct PlannedTrial {
  int candidate = 0;
  bool with_others = true;  // T(ALL-i) / T(ALL); else T(baseline) / T(i)
  int arm = 0, reference = 0;
  std::string verdict, reason;  // set when it ended early: "failed", "dropped"
};

inline constexpr int kBaselineArm = 0, kAllArm = 1;

struct ExperimentPlan {
  std::vector<Arm> arms;
  std::vector<PlannedTrial> trials;
  bool wants_fresh = true;  // false for `ab`: its pairs are the answer
  int blocks = 0;
  int fresh_blocks = 0;       // reserved for the recommended set; more are run when time is left
  bool side_by_side = false;  // the launches of a block are, in turns
  int left_out = 0;           // fixes that no blocks are left for
  Window window;
  double block_s = 0, fresh_block_s = 0;
  std::string shortage;  // what the budget does not allow; empty when nothing is missing

  double seconds() const { return blocks * block_s + fresh_blocks * fresh_block_s; }
  int launches_per_block() const;
  // Of the arm's trials those that still run get the verdict; it is not launched any more.
  void EndTrials(int arm, const std::string& verdict, const std::string& reason);
  std::vector<std::string> Describe(std::span<const Candidate> candidates, double spent_s) const;
};

// All the arms. `in_all[i]`: candidate i works together with the others; the others are measured alone. An arm with the
// same members as another is not made twice: with two fixes, ALL without one is the other alone.
ExperimentPlan PlanArms(std::span<const Candidate> candidates, const std::vector<bool>& in_all, int alone);

// With the warm-up that every arm gets: of --warmup auto the longest that any arm's pilot needed.
ExperimentOptions WithWarmup(ExperimentOptions options, std::span<const Arm> arms);

// Steps of a turn, where a block's launches run side by side: 40 ms of the fastest arm, one step at least. What
// disturbs the machine for longer meets all arms alike, and what a change of programs costs (cold caches: a millisecond
// or so) is little beside it.
int TurnSteps(const ExperimentPlan& plan);

// The line of a plan that says so.
std::string DescribeTurns(const ExperimentPlan& plan);

// Chooses blocks, repeats of the reference (about sqrt(k) times in the pooled form, Dunnett's allocation) and alone
// arms so that the blocks and at least four fresh ones fit in `seconds_left`. Arms carry their pilots' timings, or
// guesses; then their pilots are to fit too, and it is called again after them. Where four blocks of all fixes do not
// fit, the last ones (the least costly) are left out, down to three, and to one where four blocks of three do not fit
// either: four blocks of some tell more than three of all.
void ShapePlan(ExperimentPlan& plan, const ExperimentOptions& options, double seconds_left);

// "key=value" pairs of an arm, as a launch takes them.
std::vector<std::pair<std::string, std::string>> SettingsOf(const Arm& arm, std::span<const Candidate> candidates);

}  // namespace loopscope
