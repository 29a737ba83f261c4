// Launches of all fixes that work together, the search for those that make such a launch fail, and the time that they
// leave.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

// Finds the fix that makes a launch of all fixes fail, by bisection.
struct CulpritSearch {
  std::vector<int> members;                               // fixes that fail together, the most suspect last
  std::size_t first = 0;                                  // how many of them are tried first; 0: half
  std::function<bool(const std::vector<int>&)> works;     // launches these alone
  std::function<bool()> may_go_on = [] { return true; };  // asked before each launch
};

struct Culprits {
  std::vector<int> suspects;  // the last of the shortest failing prefix; several if the search had to end early
  bool only_whole = false;    // all tried subsets work: the last one is to blame, or none
};

Culprits FindCulprits(const CulpritSearch& search);

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

// Results of the fixes' pilots, and how much time they may spend.
struct FixPilots {
  LaunchResult baseline, all;  // `all` has the members that work together
  PilotRun run;                // for the pilots of the other arms
};

// Spent seconds up to which other launches leave time for the fewest `pairs` of the baseline and ALL that give a
// verdict; the whole budget if a number of blocks was given.
double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots, int pairs = kFewestBlocks);

// Whether `launches` more like ALL, and the fewest check launches, leave time for such pairs.
bool HasTimeBeforePairs(const ExperimentInput& input, const FixPilots& pilots, const LaunchSeries& series,
                        std::size_t launches);

}  // namespace loopscope
