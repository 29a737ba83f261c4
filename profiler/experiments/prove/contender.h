// A candidate of `prove`, and its state so far.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/trial.h"
#include "profiler/experiments/candidates.h"

namespace loopscope {

// With a verdict it is out, and the reason says why.
struct CandidateState {
  TrialVerdict verdict = TrialVerdict::kOpen;  // not applicable, failed, different training, dropped or untried
  std::string reason;
  bool in_all = true;  // false: works, but not together with the others
  std::string note;    // a note for its trial
  std::vector<Applied> applied;
  LossFacts loss;
};

struct Contender {
  Candidate candidate;
  CandidateState state = {};

  bool alive() const { return state.verdict == TrialVerdict::kOpen; }
  bool together() const { return alive() && state.in_all; }  // runs with the others
};

std::vector<Contender> ContendersOf(std::span<const Candidate> candidates);
std::vector<Candidate> CandidatesIn(std::span<const Contender> contenders);

// The settings that a launch with these of them (indices) is asked to apply.
Settings SettingsOf(const std::vector<int>& members, std::span<const Contender> contenders);

}  // namespace loopscope
