#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/processors.h"
#include "analyzers/shared/rank_steps.h"
#include "profiler/core/rank_analyzer.h"
#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

// The share of the waiting that one rank must cause: ranks that take turns being late are noise, not a straggler.
constexpr double kMinShareOfWaiting = 2.0 / 3;
// Chance of naming a rank where all are alike, over all ranks (Bonferroni). Tested on stretches of the run, since steps
// that follow each other share what disturbs them: a burst of other load on one rank's cores is one stretch of many.
constexpr double kFalseCallProbability = 0.01;
constexpr std::size_t kMaxStretches = 16;
// On CPUs, ranks also wait for the operating system's scheduler: a stretch lasts several of Linux's scheduling periods
// (6 to 24 ms under load, see sched(7)), or one unlucky turn would look like many late steps.
constexpr double kMinStretchMsOnCpu = 100;
constexpr std::size_t kStretchesNeeded = 3;
constexpr double kMinCostPct = 1;

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
  void Add(std::size_t index, std::size_t count, std::size_t rank, double ms) {
    const std::size_t stretch = stretches.size() * index / count;
    stretches[stretch][rank] += ms;
    met[stretch] = true;
    ++last[rank];
    ++meetings;
  }

  double ms(std::size_t rank) const {
    double sum = 0;
    for (const auto& stretch : stretches) sum += stretch[rank];
    return sum;
  }
  double total_ms() const {
    double total = 0;
    for (std::size_t rank = 0; rank < last.size(); ++rank) total += ms(rank);
    return total;
  }
  std::size_t worst() const {
    std::size_t worst = 0;
    for (std::size_t rank = 1; rank < last.size(); ++rank) worst = ms(rank) > ms(worst) ? rank : worst;
    return worst;
  }
  // Whether it causes more waiting than all others together by more than chance allows: Student's t of the differences.
  bool AgainAndAgain(std::size_t rank) const {
    std::vector<double> differences;
    for (std::size_t stretch = 0; stretch < stretches.size(); ++stretch) {
      if (!met[stretch]) continue;
      const std::vector<double>& by_rank = stretches[stretch];
      differences.push_back(2 * by_rank[rank] - std::accumulate(by_rank.begin(), by_rank.end(), 0.0));
    }
    if (differences.size() < kStretchesNeeded) return false;
    const auto n = static_cast<double>(differences.size());
    const double error = std::sqrt(Variance(differences) / n);
    if (error == 0) return Mean(differences) > 0;
    return StudentP(Mean(differences) / error, n - 1, Tail::kGreater) * static_cast<double>(last.size()) <=
           kFalseCallProbability;
  }
};

// One collective as each rank saw it: by index of the rank.
using Meeting = std::vector<std::pair<std::size_t, const RankCollective*>>;

// The rank that comes last has the shortest kernel: the others' run until it is there. Time in which an earlier
// collective waits too was charged to that one.
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

double RecordedMs(std::span<const RankSummary> ranks) {
  return FewestSteps(ranks) * std::ranges::min_element(ranks, {}, &RankSummary::mean_step_ms)->mean_step_ms;
}

std::size_t StretchCount(std::span<const RankSummary> ranks) {
  if (std::ranges::none_of(ranks, [](const RankSummary& one) { return one.devices.empty(); })) return kMaxStretches;
  return std::clamp<std::size_t>(static_cast<std::size_t>(RecordedMs(ranks) / kMinStretchMsOnCpu), 1, kMaxStretches);
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

// Mean of `value` over all ranks but one; nullopt when one of them lacks it.
std::optional<double> OthersMean(std::span<const RankSummary> ranks, std::size_t but,
                                 const std::function<std::optional<double>(const RankSummary&)>& value) {
  double sum = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<double> one = value(ranks[rank]);
    if (!one) return std::nullopt;
    if (rank != but) sum += *one;
  }
  return sum / static_cast<double>(ranks.size() - 1);
}

// Time for which a rank's training thread was runnable without a processor, ms per step; nullopt when unknown.
std::optional<double> ProcessorWaitMs(const RankSummary& rank) {
  const auto share = ProcessorDelayShare(rank.facts);
  return share ? std::optional(*share * rank.mean_step_ms) : std::nullopt;
}

// How much longer the late rank waits for a processor than the others, which is not its own work.
double LongerProcessorWaitMs(std::span<const RankSummary> ranks, std::size_t late) {
  const auto others = OthersMean(ranks, late, ProcessorWaitMs);
  const auto own = ProcessorWaitMs(ranks[late]);
  return others && own ? std::max(0.0, *own - *others) : 0;
}

std::vector<Evidence> EvidenceOf(std::span<const RankSummary> ranks, const Blame& blame, std::size_t late) {
  const RankSummary& rank = ranks[late];
  std::vector<Evidence> evidence;
  evidence.push_back({fmt::format("rank {} is last in {} of {}", rank.run.rank, blame.last[late],
                                  Counted(blame.meetings, blame.by_collectives ? "collective" : "step")),
                      blame.last[late], std::nullopt});
  if (const auto most = std::ranges::max_element(blame.by_kind, {}, [](const auto& one) { return one.second; });
      most != blame.by_kind.end() && most->second > 0) {
    const std::size_t space = most->first.first.rfind(' ');
    const std::string phase = most->first.second ? fmt::format(" in {}", PartName(*most->first.second)) : "";
    evidence.push_back({fmt::format("ranks wait most in {} of group {}{}", most->first.first.substr(space + 1),
                                    most->first.first.substr(0, space), phase),
                        1, std::nullopt});
  }
  const auto own = OthersMean(ranks, late, [](const RankSummary& one) { return std::optional(one.own_ms()); });
  evidence.push_back(
      {fmt::format("its own work takes {} per step, the others' {} on average", MsText(rank.own_ms()), MsText(*own)), 1,
       std::nullopt});
  if (const double wait_ms = LongerProcessorWaitMs(ranks, late); wait_ms > blame.ms(late) / 10) {
    evidence.push_back(
        {fmt::format("of that it waits {} per step longer than others for a processor", MsText(wait_ms)), 1, {}});
  }
  const auto loader = OthersMean(ranks, late, [](const RankSummary& one) { return one.loader_wait_ms; });
  if (loader && *rank.loader_wait_ms - *loader > blame.ms(late) / 2) {
    evidence.push_back({fmt::format("it waits {} per step for its loader, the others {}", MsText(*rank.loader_wait_ms),
                                    MsText(*loader)),
                        1, std::nullopt});
  }
  return evidence;
}

std::vector<Finding> RunStraggler(std::span<const RankSummary> ranks) {
  if (ranks.size() < 2) return {Finding::NotApplicable("there is one rank")};
  if (const auto few = TooFewSteps(ranks)) return {*few};
  if (std::ranges::none_of(ranks, &RankSummary::communication_seen)) {
    return {Finding::CannotTell("no communication between the ranks was recorded")};
  }
  const Blame blame = BlameOf(ranks);
  const std::size_t late = blame.worst();
  const double cost_ms = blame.ms(late);
  const double mean_ms = std::ranges::max_element(ranks, {}, &RankSummary::mean_step_ms)->mean_step_ms;
  if (cost_ms < kMinCostPct / 100 * mean_ms || cost_ms < kMinShareOfWaiting * blame.total_ms()) return {};
  if (blame.stretches.size() < kStretchesNeeded) {
    return {Finding::CannotTell(fmt::format(
        "the timed steps last {} in all: too short to separate a late rank from the operating system's scheduling",
        MsText(RecordedMs(ranks))))};
  }
  if (!blame.AgainAndAgain(late)) return {};
  const double no_processor_ms = LongerProcessorWaitMs(ranks, late);
  if (cost_ms - no_processor_ms < kMinCostPct / 100 * mean_ms) {
    return {Finding::CannotTell(fmt::format(
        "rank {} is late by the {} per step that it waits longer than others for a processor: more runs here than "
        "there are processors",
        ranks[late].run.rank, MsText(no_processor_ms)))};
  }
  Finding finding;
  finding.title = fmt::format("the other ranks wait {} per step for rank {}", MsText(cost_ms), ranks[late].run.rank);
  finding.cost_ms_per_step = cost_ms;
  finding.evidence = EvidenceOf(ranks, blame, late);
  return {finding};
}

}  // namespace

extern const RankAnalyzer kStraggler{
    .id = "straggler", .question = "Do the ranks wait for the same one again and again?", .run = RunStraggler};

}  // namespace loopscope
