#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzers/shared/evidence.h"
#include "profiler/core/rank_analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostFindings = 3, kMostNamed = 8, kMostPlaces = 4;

// What one rank did in a process group.
struct Member {
  const RankSummary* rank = nullptr;
  std::map<std::uint64_t, const RankEntered*> entered;  // by number in the group

  const RankEntered* at(std::uint64_t sequence) const {
    const auto found = entered.find(sequence);
    return found == entered.end() ? nullptr : found->second;
  }
  const RankEntered* last() const { return entered.empty() ? nullptr : entered.rbegin()->second; }
  // A recorder keeps the last few thousand collectives: older ones were entered.
  bool never_entered(std::uint64_t sequence) const { return entered.empty() || entered.rbegin()->first < sequence; }
};

struct Group {
  std::string name;
  std::vector<Member> members;
};

// A collective that some ranks are in and cannot leave.
struct Hang {
  const Group* group = nullptr;
  std::uint64_t sequence = 0;
  const RankEntered* example = nullptr;
  std::vector<const Member*> waiting = {}, missing = {};
  std::int64_t since_ns = 0;
};

std::set<int> RanksOf(const std::string& name, const RankSummary& rank) {
  std::set<int> ranks;
  const std::string listed(FactOf(rank.facts, "group.ranks.{}", name.substr(0, name.find(' '))));
  if (listed.empty()) return ranks;
  int number = 0;
  for (const char letter : listed + ",") {
    if (letter != ',') {
      number = std::min(number, 100'000'000) * 10 + (letter - '0');
    } else {
      ranks.insert(std::exchange(number, 0));
    }
  }
  return ranks;
}

// A rank belongs to a group that it entered, that its own or another's dump says it is in, or that all are in.
std::vector<Group> GroupsOf(std::span<const RankSummary> ranks) {
  std::map<std::string, std::map<int, Member>> all;
  for (const RankSummary& rank : ranks) {
    for (const RankEntered& one : rank.entered) {
      if (one.between_two) continue;
      auto& members = all[one.group];
      if (members.empty()) {
        const std::set<int> said = RanksOf(one.group, rank);
        const bool of_all = one.group.find("default_pg") != one.group.npos;
        for (const RankSummary& other : ranks) {
          if (of_all || said.contains(other.run.rank)) members[other.run.rank].rank = &other;
        }
      }
      Member& member = members[rank.run.rank];
      member.rank = &rank;
      member.entered[one.sequence] = &one;
    }
  }
  std::vector<Group> groups;
  for (auto& [name, members] : all) {
    Group& group = groups.emplace_back();
    group.name = name;
    for (auto& [rank, member] : members) group.members.push_back(std::move(member));
  }
  return groups;
}

// The first collective of the group that a rank is in and did not leave.
std::optional<Hang> HangOf(const Group& group) {
  std::optional<std::uint64_t> first;
  for (const Member& member : group.members) {
    for (const auto& [sequence, one] : member.entered) {
      if (!one->ended && (!first || sequence < *first)) first = sequence;
    }
  }
  if (!first) return std::nullopt;
  Hang hang{.group = &group, .sequence = *first};
  for (const Member& member : group.members) {
    const RankEntered* const one = member.at(*first);
    if (one != nullptr && !one->ended) {
      hang.waiting.push_back(&member);
      if (!hang.example) hang.example = one;
      if (one->entered_ns > 0 && (hang.since_ns == 0 || one->entered_ns < hang.since_ns))
        hang.since_ns = one->entered_ns;
    } else if (one == nullptr && member.never_entered(*first)) {
      hang.missing.push_back(&member);
    }
  }
  return hang;
}

std::string RanksText(const std::vector<const Member*>& members) {
  std::vector<int> numbers;
  for (const Member* member : members) {
    if (numbers.size() < kMostNamed) numbers.push_back(member->rank->run.rank);
  }
  return fmt::format(
      "rank{} {}{}", members.size() == 1 ? "" : "s", fmt::join(numbers, ", "),
      members.size() > numbers.size() ? fmt::format(" and {} more", members.size() - numbers.size()) : "");
}

std::string TimeText(std::int64_t ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

std::string CollectiveText(const RankEntered& one, std::uint64_t sequence) {
  return fmt::format("{} #{} of group {}", one.operation, sequence, one.group);
}

// Names the ranks that call another operation than the others.
std::optional<std::pair<const Member*, const Member*>> Disagreement(const Hang& hang) {
  const RankEntered& first = *hang.waiting.front()->at(hang.sequence);
  for (const Member* member : hang.waiting) {
    const RankEntered& one = *member->at(hang.sequence);
    const bool sizes = one.bytes != first.bytes && one.bytes > 0 && first.bytes > 0 &&
                       (one.operation == "all_reduce" || one.operation == "allreduce" || one.operation == "broadcast");
    if (one.operation != first.operation || sizes) return std::pair(hang.waiting.front(), member);
  }
  return std::nullopt;
}

std::string WhatText(const RankEntered& one) {
  return one.bytes > 0 ? fmt::format("{} of {} bytes", one.operation, one.bytes) : one.operation;
}

std::string TitleOf(const Hang& hang) {
  const std::string since = hang.since_ns > 0 ? " since " + TimeText(hang.since_ns) : "";
  if (!hang.missing.empty()) {
    return fmt::format("{} never entered {}: {} wait{} there{}", RanksText(hang.missing),
                       CollectiveText(*hang.example, hang.sequence), RanksText(hang.waiting),
                       hang.waiting.size() == 1 ? "s" : "", since);
  }
  if (const auto differ = Disagreement(hang)) {
    return fmt::format("rank {} calls {} where rank {} calls {} (#{} of group {}): they wait for each other{}",
                       differ->first->rank->run.rank, WhatText(*differ->first->at(hang.sequence)),
                       differ->second->rank->run.rank, WhatText(*differ->second->at(hang.sequence)), hang.sequence,
                       hang.group->name, since);
  }
  return fmt::format("{} did not end though all ranks of the group entered it: its transfer hangs{}",
                     CollectiveText(*hang.example, hang.sequence), since);
}

// Where a rank is now, as far as its recorder shows.
Evidence LastOf(const Member& member) {
  const std::string rank = fmt::format("rank {}", member.rank->run.rank);
  const RankEntered* const in_group = member.last();
  std::string text =
      in_group ? fmt::format("{}: its last in this group was {} #{}", rank, in_group->operation, in_group->sequence)
               : rank + ": it entered nothing in this group";
  if (in_group != nullptr && in_group->entered_ns > 0) text += ", entered " + TimeText(in_group->entered_ns);
  std::optional<Where> where = in_group != nullptr ? in_group->where : std::nullopt;
  if (!member.rank->entered.empty()) {
    const RankEntered& last = member.rank->entered.back();
    if (!last.ended && (in_group == nullptr || last.group != in_group->group)) {
      text += fmt::format("; it is in {}", CollectiveText(last, last.sequence));
      where = last.where;
    }
  }
  return {text, 1, where};
}

std::vector<Evidence> EvidenceOf(const Hang& hang) {
  std::vector<Evidence> evidence;
  for (const Member* member : hang.missing) {
    if (evidence.size() < kMostPlaces) evidence.push_back(LastOf(*member));
  }
  std::vector<const Member*> by_time = hang.waiting;
  std::ranges::stable_sort(by_time, {}, [&](const Member* one) { return one->at(hang.sequence)->entered_ns; });
  const std::size_t missing = evidence.size();
  const auto add = [&](const Member& member, const char* which) {
    const RankEntered& one = *member.at(hang.sequence);
    if (evidence.size() >= missing + kMostPlaces) return;
    const std::string when = one.entered_ns > 0 ? " " + TimeText(one.entered_ns) : "";
    evidence.push_back({fmt::format("rank {}{} entered it{}", member.rank->run.rank, which, when), 1, one.where});
  };
  add(*by_time.front(), "");
  if (by_time.size() > 1) add(*by_time.back(), " (last)");
  return evidence;
}

std::vector<Finding> Run(std::span<const RankSummary> ranks) {
  const auto recorded = std::ranges::count_if(ranks, [](const RankSummary& one) { return !one.entered.empty(); });
  if (recorded == 0) return {Finding::NotApplicable("no flight recorder's dump was given")};
  if (ranks.size() < 2) {
    return {Finding::CannotTell("one rank's dump does not show what the others entered: name the folder of all dumps")};
  }
  const std::vector<Group> groups = GroupsOf(ranks);
  std::vector<Hang> hangs;
  for (const Group& group : groups) {
    if (const auto hang = HangOf(group)) hangs.push_back(*hang);
  }
  // The earliest hang is the cause: ranks stuck there are missing elsewhere.
  std::ranges::stable_sort(hangs, {}, &Hang::since_ns);
  std::vector<Finding> findings;
  for (const Hang& hang : hangs) {
    if (findings.size() == kMostFindings) break;
    Finding finding;
    finding.title = TitleOf(hang);
    finding.severity = Severity::kHigh;
    finding.evidence = EvidenceOf(hang);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const RankAnalyzer kHangingCollective{
    .id = "hanging-collective", .question = "Which rank did not enter a collective that others wait in?", .run = Run};

}  // namespace loopscope
