// The launches before the blocks: one discarded launch per arm, which warms caches, gives the timings that the plan is
// made from, and shows which fixes apply, which fail, and which fail only together.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/plan.h"

namespace loopscope {

// What became of a candidate. With a verdict it is out, and the reason says why.
struct CandidateState {
  std::string verdict, reason;  // "not-applicable", "failed", "different-training"
  bool in_all = true;           // false: works, but not together with the others
  std::string note;             // what a reader of its trial should know
  std::vector<Applied> applied;
  LossFacts loss;

  bool alive() const { return verdict.empty(); }
};

struct Pilots {
  LaunchResult baseline, all;  // `all` has the members that work together
  Window window;
  int steps_per_epoch = 0;  // where the blocks' window is to hold whole epochs; else 0
};

// The batches that any arm's loader prepares ahead, at most. Where only the number of an untreated loader's batches is
// known, its prefetch is taken for the usual one.
int Ahead(const ExperimentInput& input, std::span<const Candidate> candidates);

// Why a treatment that was asked for changed nothing, from what the launch reports under its key; empty: it did.
std::string WhyNotApplied(std::string_view key, const std::vector<Applied>& applied);

// Baseline, ALL, and the values of treatments that offer several: the fastest in one launch each is kept. A failing ALL
// is bisected. Error (exit 4): the untreated program fails; (exit 3) interrupted.
Result<Pilots> RunPilots(const ExperimentInput& input, std::vector<Candidate>& candidates,
                         std::vector<CandidateState>& states, LaunchSeries& series);

// What is known of the plan's arms before their own pilots: an arm takes about as long as what it is compared with.
// `all_changed`: ALL has other members than its pilot had.
void GuessArms(const Pilots& pilots, bool all_changed, ExperimentPlan& plan);

// The pilots that are still to be made, and every arm's estimate for launches with the final window, which it chooses.
// A trial whose arm fails gets the verdict "failed".
Result<void> RunArmPilots(const ExperimentInput& input, std::span<const Candidate> candidates, const Pilots& pilots,
                          ExperimentPlan& plan, LaunchSeries& series);

Error CommandFailed(const std::string& command, const LaunchResult& result);
Error Interrupted();

}  // namespace loopscope
