#include "analyzers/shared/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "analyzers/shared/evidence.h"
#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr int kStepsNeeded = 3;

}  // namespace

std::optional<Finding> TooFewSteps(std::span<const RankSummary> ranks) {
  for (const RankSummary& rank : ranks) {
    if (rank.steps >= kStepsNeeded) continue;
    return Finding::CannotTell(fmt::format("rank {} has {}: {}", rank.run.rank, Counted(rank.steps, "timed step"),
                                           rank.why_no_steps.empty() ? "too few" : rank.why_no_steps));
  }
  return std::nullopt;
}

std::string RankText(const RankSummary& rank, std::span<const RankSummary> all) {
  const bool several = std::ranges::any_of(all, [&](const RankSummary& one) { return one.run.node != rank.run.node; });
  if (!several || rank.run.node.empty()) return fmt::format("rank {}", rank.run.rank);
  return fmt::format("rank {} on {}", rank.run.rank, rank.run.node);
}

namespace {

// Chance of naming a rank where all are alike, over all ranks (Bonferroni). Tested on stretches of the run, since steps
// that follow each other share what disturbs them: a burst of other load on one rank's cores is one stretch of many.
constexpr double kFalseCallProbability = 0.01;
constexpr std::size_t kMaxStretches = 16;
// On CPUs, ranks also wait for the operating system's scheduler: a stretch lasts several of Linux's scheduling periods
// (6 to 24 ms under load, see sched(7)), or one unlucky turn would look like many late steps.
constexpr double kMinStretchMsOnCpu = 100;
constexpr std::size_t kStretchesNeeded = 3;

// One collective as each rank saw it: by index of the rank.
using Meeting = std::vector<std::pair<std::size_t, const RankCollective*>>;

// The rank that comes last has the shortest kernel: the others' run until it arrives. Time in which an earlier
// collective also waits is already charged to that one.
void Charge(const Meeting& meeting, const std::string& name, std::size_t index, std::size_t count, Blame& blame) {
  const auto last = std::ranges::min_element(meeting, {}, [](const auto& one) { return one.second->length_ns; });
  double waited_ns = 0;
  for (const auto& [rank, one] : meeting) {
    waited_ns += static_cast<double>(std::min(one->length_ns - last->second->length_ns, one->added_ns));
  }
  const double waited_ms = waited_ns / static_cast<double>(meeting.size() - 1) / 1e6;
  blame.Add(index, count, last->first, waited_ms);
  blame.by_kind[{name, last->second->phase}] += waited_ms;
}

// The collectives of one group and operation, rank by rank, matched by their number in the group where it is known and
// by order where all ranks have as many.
class Matching {
 public:
  explicit Matching(std::span<const RankSummary> ranks) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (const RankCollective& one : ranks[rank].collectives) {
        by_name_[ranks[rank].names[one.name]][rank].push_back(&one);
      }
    }
  }

  void ChargeAll(Blame& blame) const {
    for (const auto& [name, by_rank] : by_name_) {
      if (by_rank.size() < 2) continue;
      const bool numbered = std::ranges::all_of(by_rank, [](const auto& one) {
        return std::ranges::all_of(one.second, [](const RankCollective* c) { return c->sequence != 0; });
      });
      std::map<std::uint64_t, Meeting> meetings;
      const std::size_t count = by_rank.begin()->second.size();
      const bool even = std::ranges::all_of(by_rank, [&](const auto& one) { return one.second.size() == count; });
      if (!numbered && !even) continue;
      for (const auto& [rank, collectives] : by_rank) {
        for (std::size_t i = 0; i < collectives.size(); ++i) {
          if (!collectives[i]->steady) continue;
          meetings[numbered ? collectives[i]->sequence : i].emplace_back(rank, collectives[i]);
        }
      }
      std::size_t index = 0;
      for (const auto& [key, meeting] : meetings) {
        if (meeting.size() == by_rank.size()) Charge(meeting, name, index, meetings.size(), blame);
        ++index;
      }
    }
  }

 private:
  std::map<std::string, std::map<std::size_t, std::vector<const RankCollective*>>> by_name_;
};

int FewestSteps(std::span<const RankSummary> ranks) {
  return std::ranges::min_element(ranks, {}, &RankSummary::steps)->steps;
}

// Without collectives that match: the rank with the longest own work keeps the others waiting, step by step.
void ChargeSteps(std::span<const RankSummary> ranks, Blame& blame) {
  const auto steps = static_cast<std::size_t>(FewestSteps(ranks));
  for (std::size_t step = 0; step < steps; ++step) {
    std::size_t longest = 0;
    double sum_ms = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      sum_ms += ranks[rank].own_step_ms[step];
      if (ranks[rank].own_step_ms[step] > ranks[longest].own_step_ms[step]) longest = rank;
    }
    const double longest_ms = ranks[longest].own_step_ms[step];
    const double others_ms = (sum_ms - longest_ms) / static_cast<double>(ranks.size() - 1);
    blame.Add(step, steps, longest, longest_ms - others_ms);
  }
}

std::size_t StretchCount(std::span<const RankSummary> ranks) {
  if (std::ranges::none_of(ranks, [](const RankSummary& one) { return one.devices.empty(); })) return kMaxStretches;
  return std::clamp<std::size_t>(static_cast<std::size_t>(RecordedMs(ranks) / kMinStretchMsOnCpu), 1, kMaxStretches);
}

}  // namespace

void Blame::Add(std::size_t index, std::size_t count, std::size_t rank, double ms) {
  const std::size_t stretch = stretches.size() * index / count;
  stretches[stretch][rank] += ms;
  met[stretch] = true;
  ++last[rank];
  ++meetings;
}

double Blame::ms(std::span<const std::size_t> of) const {
  double sum = 0;
  for (const auto& stretch : stretches) {
    for (const std::size_t rank : of) sum += stretch[rank];
  }
  return sum;
}

double Blame::total_ms() const {
  double total = 0;
  for (std::size_t rank = 0; rank < last.size(); ++rank) total += ms({&rank, 1});
  return total;
}

std::vector<std::size_t> Blame::WorstFirst() const {
  std::vector<std::size_t> ranks(last.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::ranges::stable_sort(ranks, std::ranges::greater(), [&](std::size_t rank) { return ms({&rank, 1}); });
  return ranks;
}

bool Blame::EnoughStretches() const {
  return stretches.size() >= kStretchesNeeded;
}

bool Blame::AgainAndAgain(std::span<const std::size_t> these, double choices) const {
  std::vector<double> differences;
  for (std::size_t stretch = 0; stretch < stretches.size(); ++stretch) {
    if (!met[stretch]) continue;
    const std::vector<double>& by_rank = stretches[stretch];
    double theirs = 0;
    for (const std::size_t rank : these) theirs += by_rank[rank];
    differences.push_back(2 * theirs - std::accumulate(by_rank.begin(), by_rank.end(), 0.0));
  }
  if (differences.size() < kStretchesNeeded) return false;
  const auto n = static_cast<double>(differences.size());
  const double error = std::sqrt(Variance(differences) / n);
  if (error == 0) return Mean(differences) > 0;
  return StudentP(Mean(differences) / error, n - 1, Tail::kGreater) * choices <= kFalseCallProbability;
}

double RecordedMs(std::span<const RankSummary> ranks) {
  return FewestSteps(ranks) * std::ranges::min_element(ranks, {}, &RankSummary::mean_step_ms)->mean_step_ms;
}

Blame BlameOf(std::span<const RankSummary> ranks) {
  Blame blame(ranks.size(), StretchCount(ranks));
  Matching(ranks).ChargeAll(blame);
  blame.by_collectives = blame.meetings > 0;
  if (!blame.by_collectives) ChargeSteps(ranks, blame);
  for (auto& stretch : blame.stretches) {
    for (double& ms : stretch) ms /= FewestSteps(ranks);
  }
  return blame;
}

}  // namespace loopscope
