// What rules over ranks need of each of them, and which one makes the others wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/report/rank_summary.h"

namespace loopscope {

// Cannot tell, with the reason, where a rank has fewer timed steps than a rule can compare.
std::optional<Finding> TooFewSteps(std::span<const RankSummary> ranks);

// "rank 7", or "rank 7 on node3" where the ranks ran on several machines.
std::string RankText(const RankSummary& rank, std::span<const RankSummary> all);

// Which rank makes the others wait, collective by collective ("meeting").

// How much each rank made the others wait: ms per step, mean over the others.
struct Blame {
  Blame(std::size_t ranks, std::size_t count) : stretches(count, std::vector<double>(ranks)), met(count), last(ranks) {}

  std::vector<std::vector<double>> stretches;  // of the run, in order: ms by rank
  std::vector<bool> met;                       // by stretch: whether the ranks met in it
  std::vector<std::uint64_t> last;             // by rank: how often it came last
  std::uint64_t meetings = 0;
  bool by_collectives = false;
  std::map<std::pair<std::string, std::optional<Part>>, double> by_kind = {};  // group, operation and phase: ms

  // Records that `rank` came last in meeting `index` of `count` and made the others wait.
  void Add(std::size_t index, std::size_t count, std::size_t rank, double ms);

  double ms(std::span<const std::size_t> of) const;  // of these ranks together
  double total_ms() const;
  std::vector<std::size_t> WorstFirst() const;  // all ranks
  bool EnoughStretches() const;                 // to separate chance from habit
  // Whether these ranks cause more waiting than all others together by more than chance allows, having been chosen out
  // of `choices` such sets: Student's t of the differences.
  bool AgainAndAgain(std::span<const std::size_t> these, double choices) const;
};

// By collectives that match between the ranks; where none do, by the own work of each step. At least one step each.
Blame BlameOf(std::span<const RankSummary> ranks);

double RecordedMs(std::span<const RankSummary> ranks);  // how long the steps that all have take

}  // namespace loopscope
