// Launches of all fixes that work together, and the search for those that make such a launch fail.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/culprit.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

// Another value of a fix in ALL than the one it has there.
struct OtherValue {
  int contender = 0;
  std::string value;
};

// Keeps references to its arguments.
class Together {
 public:
  Together(const ExperimentInput& input, std::vector<Contender>& contenders, LaunchSeries& series, PilotRun& run)
      : input_(input), contenders_(contenders), series_(series), run_(run) {}

  void SetBaseline(const LaunchResult& baseline) { baseline_ = baseline; }

  std::vector<int> Members() const;  // indices of the contenders that run together
  LaunchResult Launch(const std::vector<int>& members, const std::string& name);
  Arm ArmOf(const std::vector<int>& members, const std::string& name) const;

  // ALL, without those that make it fail: those are out, or are measured alone. May be a failure only if interrupted.
  // If there is no time to search and still measure pairs, the suspects are dropped. `first`: a launch of
  // all members that was made already.
  LaunchResult LaunchAll(const std::optional<LaunchResult>& first = std::nullopt);

  // A launch of all members with each of these values, side by side where that is possible.
  std::vector<LaunchResult> LaunchValues(std::span<const OtherValue> others);

 private:
  bool HasTimeToSearch(const LaunchResult& all) const;
  LaunchResult Held(LaunchResult result) const;
  Culprits CulpritsOf(std::vector<int> members, const LaunchResult& all, int attempt);
  void TakeOut(int i, const LaunchResult& all);
  void TakeOutUntried(const std::vector<int>& suspects, const LaunchResult& all);

  const ExperimentInput& input_;
  std::vector<Contender>& contenders_;
  LaunchSeries& series_;
  PilotRun& run_;
  LaunchResult baseline_;
};

// Records from `result`, a launch with the contender, where it acted, or why it is out.
void SetApplied(Contender& contender, const LaunchResult& result);

void Fail(Contender& contender, const LaunchResult& result);
void Drop(Contender& contender, std::string why);

}  // namespace loopscope
