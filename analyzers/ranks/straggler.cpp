#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/processors.h"
#include "analyzers/shared/ranks.h"
#include "profiler/core/rank_analyzer.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/core/timeline/collectives.h"

namespace loopscope {
namespace {

// The share of the waiting that one rank must cause: ranks that take turns being late are noise, not a straggler.
constexpr double kMinShareOfWaiting = 2.0 / 3;
constexpr double kMinCostPct = 1;
// Late by turns: at most three ranks, of four times as many.
constexpr std::size_t kMostTogether = 3, kRanksPerLate = 4;
constexpr std::size_t kMostAlsoSlow = 8;

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

// Ranks that may be late by turns, and out of how many such sets they were chosen.
struct LateRanks {
  std::vector<std::size_t> ranks;
  std::string name;
  double choices = 1;
};

// The few worst ranks of many, and the ranks of each machine.
std::vector<LateRanks> LateOf(std::span<const RankSummary> ranks, const std::vector<std::size_t>& worst_first) {
  std::vector<LateRanks> groups;
  LateRanks few{{worst_first.front()}, "", static_cast<double>(ranks.size())};
  while (few.ranks.size() < kMostTogether && (few.ranks.size() + 1) * kRanksPerLate <= ranks.size()) {
    few.choices *= static_cast<double>(ranks.size() - few.ranks.size()) / static_cast<double>(few.ranks.size() + 1);
    few.ranks.push_back(worst_first[few.ranks.size()]);
    few.name.clear();
    for (const std::size_t rank : few.ranks) {
      const bool is_last = rank == few.ranks.back();
      few.name += (few.name.empty() ? "" : is_last ? " and " : ", ") + RankText(ranks[rank], ranks);
    }
    groups.push_back(few);
  }
  std::vector<LateRanks> nodes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::string name = "those on " + ranks[rank].run.node;
    auto node = std::ranges::find(nodes, name, &LateRanks::name);
    if (node == nodes.end()) node = nodes.insert(nodes.end(), {{}, name, 1});
    node->ranks.push_back(rank);
  }
  if (nodes.size() < 2 || std::ranges::any_of(ranks, [](const RankSummary& one) { return one.run.node.empty(); })) {
    return groups;
  }
  for (LateRanks& node : nodes) {
    node.choices = static_cast<double>(nodes.size());
    if (node.ranks.size() > 1) groups.push_back(std::move(node));
  }
  return groups;
}

// No single rank is late, but those of a group are, by turns.
std::optional<Finding> FindingOf(std::span<const RankSummary> ranks, const Blame& blame, double mean_ms,
                                 const LateRanks& group) {
  const double cost_ms = blame.ms(group.ranks);
  if (cost_ms < kMinCostPct / 100 * mean_ms || cost_ms < kMinShareOfWaiting * blame.total_ms() ||
      !blame.AgainAndAgain(group.ranks, group.choices)) {
    return std::nullopt;
  }
  double theirs_ms = 0, all_ms = 0;
  std::uint64_t last = 0;
  for (const RankSummary& rank : ranks) all_ms += rank.own_ms();
  for (const std::size_t rank : group.ranks) {
    theirs_ms += ranks[rank].own_ms();
    last += blame.last[rank];
  }
  const auto count = static_cast<double>(group.ranks.size()), others = static_cast<double>(ranks.size()) - count;
  Finding finding;
  finding.title = fmt::format("the other ranks wait {} per step for {}", MsText(cost_ms), group.name);
  finding.cost_ms_per_step = cost_ms;
  finding.evidence.push_back({fmt::format("one of them is last in {} of {}", last,
                                          Counted(blame.meetings, blame.by_collectives ? "collective" : "step")),
                              last, std::nullopt});
  finding.evidence.push_back({fmt::format("their own work takes {} per step, that of the others {} on average",
                                          MsText(theirs_ms / count), MsText((all_ms - theirs_ms) / others)),
                              1, std::nullopt});
  return finding;
}

// Others that are slow too: nearly as late as the one that sets the pace, by their own work.
std::string AlsoSlow(std::span<const RankSummary> ranks, std::size_t late) {
  std::vector<double> own_ms;
  for (const RankSummary& rank : ranks) own_ms.push_back(rank.own_ms());
  const double usual_ms = Median(own_ms), limit_ms = usual_ms + (own_ms[late] - usual_ms) / 2;
  std::string text;
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank == late || own_ms[rank] <= limit_ms || own_ms[late] <= usual_ms) continue;
    if (++count > kMostAlsoSlow) return "";  // half of them, or its own scale: not just a few
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", RankText(ranks[rank], ranks), MsText(own_ms[rank]));
  }
  return text;
}

std::vector<Evidence> EvidenceOf(std::span<const RankSummary> ranks, const Blame& blame, std::size_t late) {
  const RankSummary& rank = ranks[late];
  std::vector<Evidence> evidence;
  evidence.push_back({fmt::format("{} is last in {} of {}", RankText(rank, ranks), blame.last[late],
                                  Counted(blame.meetings, blame.by_collectives ? "collective" : "step")),
                      blame.last[late], std::nullopt});
  if (const auto most = std::ranges::max_element(blame.by_kind, {}, [](const auto& one) { return one.second; });
      most != blame.by_kind.end() && most->second > 0) {
    const std::size_t space = most->first.first.rfind(' ');
    const std::string phase = most->first.second ? fmt::format(" in {}", PartName(*most->first.second)) : "";
    const std::string_view kind = most->first.first;
    evidence.push_back(
        {"ranks wait most in " + OfGroup(kind.substr(space + 1), kind.substr(0, space)) + phase, 1, std::nullopt});
  }
  const auto own = OthersMean(ranks, late, [](const RankSummary& one) { return std::optional(one.own_ms()); });
  evidence.push_back(
      {fmt::format("its own work takes {} per step, the others' {} on average", MsText(rank.own_ms()), MsText(*own)), 1,
       std::nullopt});
  if (const std::string also = AlsoSlow(ranks, late); !also.empty()) {
    evidence.push_back({"slow by their own work, too: " + also, 1, std::nullopt});
  }
  const double cost_ms = blame.ms({&late, 1});
  if (const double wait_ms = LongerProcessorWaitMs(ranks, late); wait_ms > cost_ms / 10) {
    evidence.push_back(
        {fmt::format("of that it waits {} per step longer than others for a processor", MsText(wait_ms)), 1, {}});
  }
  const auto loader = OthersMean(ranks, late, [](const RankSummary& one) { return one.loader_wait_ms; });
  if (loader && *rank.loader_wait_ms - *loader > cost_ms / 2) {
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
  const std::vector<std::size_t> worst_first = blame.WorstFirst();
  const std::size_t late = worst_first.front();
  const double cost_ms = blame.ms({&late, 1});
  const double mean_ms = std::ranges::max_element(ranks, {}, &RankSummary::mean_step_ms)->mean_step_ms;
  if (cost_ms < kMinCostPct / 100 * mean_ms || cost_ms < kMinShareOfWaiting * blame.total_ms()) {
    for (const LateRanks& group : LateOf(ranks, worst_first)) {
      if (auto finding = FindingOf(ranks, blame, mean_ms, group)) return {*std::move(finding)};
    }
    return {};
  }
  if (!blame.EnoughStretches()) {
    return {Finding::CannotTell(fmt::format(
        "the timed steps last {} in all: too short to separate a late rank from the operating system's scheduling",
        MsText(RecordedMs(ranks))))};
  }
  if (!blame.AgainAndAgain({&late, 1}, static_cast<double>(ranks.size()))) return {};
  const double no_processor_ms = LongerProcessorWaitMs(ranks, late);
  if (cost_ms - no_processor_ms < kMinCostPct / 100 * mean_ms) {
    return {Finding::CannotTell(fmt::format(
        "{} is late by the {} per step that it waits longer than others for a processor: more runs here than "
        "there are processors",
        RankText(ranks[late], ranks), MsText(no_processor_ms)))};
  }
  Finding finding;
  finding.title = fmt::format("the other ranks wait {} per step for {}", MsText(cost_ms), RankText(ranks[late], ranks));
  finding.cost_ms_per_step = cost_ms;
  finding.evidence = EvidenceOf(ranks, blame, late);
  return {finding};
}

}  // namespace

extern const RankAnalyzer kStraggler{
    .id = "straggler", .question = "Do the ranks wait for the same one again and again?", .run = RunStraggler};

}  // namespace loopscope
