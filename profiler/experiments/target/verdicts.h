// Turns times to a target into verdicts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/report/target.h"
#include "profiler/experiments/candidates.h"

namespace loopscope {

struct ReachArm {
  std::string name;
  Settings settings = {};
  TrialVerdict verdict = TrialVerdict::kOpen;  // set when it is out: not applicable, failed
  std::string reason = {};
  std::vector<Applied> applied = {};
  std::vector<TargetRun> runs = {};  // by block

  bool alive() const { return verdict == TrialVerdict::kOpen; }
};

// Fills report.target (arms and comparisons) and report.trials, one per candidate. arms[0] is the baseline, arms[i + 1]
// candidate i. faster/slower: Holm p <= 5 % over all candidates, of at least kFewestSeeds seeds.
void JudgeTargets(std::span<const Candidate> candidates, int blocks, const std::string& ended,
                  std::span<const ReachArm> arms, Report& report);

}  // namespace loopscope
