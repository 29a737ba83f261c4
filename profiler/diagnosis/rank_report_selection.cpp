#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "profiler/diagnosis/rank_report.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr double kSameStartSeconds = 600;
constexpr std::size_t kMostNamed = 8;

// Two launches of the same program differ in numbers at most: a port, a rank.
std::string ProgramOf(const RunInfo& run) {
  std::string program;
  for (const std::string& word : run.command) {
    for (const char letter : word + " ") {
      const bool digit = letter >= '0' && letter <= '9';
      if (!digit || program.empty() || program.back() != '#') program += digit ? '#' : letter;
    }
  }
  return program;
}

std::optional<double> StartOf(const RunInfo& run) {
  std::tm time{};
  if (!strptime(run.started.c_str(), "%Y-%m-%dT%H:%M:%S", &time)) return std::nullopt;
  return static_cast<double>(timegm(&time));
}

struct RunKey {
  std::string program;
  int ranks = 0;
  auto operator<=>(const RunKey&) const = default;
};

RunKey KeyOf(const RankSummary& one) {
  return {ProgramOf(one.run), one.run.ranks > 1 ? one.run.ranks : 0};
}

std::optional<double> MedianStart(const std::vector<RankSummary>& all, const RunKey& key) {
  std::vector<double> starts;
  for (const RankSummary& one : all) {
    if (const auto start = StartOf(one.run); start && KeyOf(one) == key) starts.push_back(*start);
  }
  if (starts.empty()) return std::nullopt;
  std::ranges::sort(starts);
  return starts[(starts.size() - 1) / 2];
}

std::string SpanText(double seconds) {
  if (seconds <= 2 * 3600) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.0f} hours", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

// Why `one` belongs to another run than most do; empty when it does not.
std::string WhyForeign(const RankSummary& one, const RunKey& run, const std::optional<double>& median_start) {
  const RunKey key = KeyOf(one);
  if (key.program != run.program) return "it ran another program";
  if (key.ranks != run.ranks) return fmt::format("its run has {} ranks, not {}", one.run.ranks, run.ranks);
  const auto start = StartOf(one.run);
  if (!start || !median_start || std::abs(*start - *median_start) <= kSameStartSeconds) return "";
  const double apart = *start - *median_start;
  return fmt::format("it started {} {} the others", SpanText(std::abs(apart)), apart < 0 ? "before" : "after");
}

void DropForeign(std::vector<RankSummary>& all, std::vector<std::string>& warnings) {
  std::map<RunKey, std::size_t> votes;
  for (const RankSummary& one : all) ++votes[KeyOf(one)];
  const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  if (most == votes.end()) return;
  const RunKey run = most->first;
  const auto median_start = MedianStart(all, run);
  std::erase_if(all, [&](const RankSummary& one) {
    const std::string why = WhyForeign(one, run, median_start);
    if (!why.empty()) warnings.push_back(one.input + " is left out as of another run: " + why);
    return !why.empty();
  });
}

// Files of summaries may overlap.
void DropTwice(std::vector<RankSummary>& all, std::vector<std::string>& warnings) {
  std::set<std::string> there;
  std::erase_if(all, [&](const RankSummary& one) {
    if (there.insert(one.input).second) return false;
    warnings.push_back(one.input + " is there twice, and counts once");
    return true;
  });
}

// Processes of one run that record no ranks and train one after another (a fold each, a trial of a search each) are not
// ranks: the first is kept, with those that ran beside it. Captures of one machine share its clock.
void DropLater(std::vector<RankSummary>& all, std::vector<std::string>& warnings) {
  const auto is_rank = [](const RankSummary& one) {
    return one.run.source != "capture" || one.run.ranks > 1 || one.trained.length() <= 0;
  };
  if (all.size() < 2 || std::ranges::any_of(all, is_rank)) return;
  const auto first = std::ranges::min_element(all, {}, [](const RankSummary& one) { return one.trained.start_ns; });
  const std::int64_t end_ns = first->trained.end_ns;
  const auto later = std::erase_if(all, [&](const RankSummary& one) { return one.trained.start_ns >= end_ns; });
  if (later == 0) return;
  warnings.push_back(
      fmt::format("{} more process{} trained after this one: each was recorded, and ended when it had its steps "
                  "(--steps 0 lets them come to their own ends)",
                  later, later == 1 ? "" : "es"));
}

// "…rank3…", "…rank_3…" in the name of the file or its folder.
std::optional<int> RankInName(const std::string& input) {
  const fs::path path = input;
  for (const std::string& name : {path.filename().string(), path.parent_path().filename().string()}) {
    std::size_t at = name.rfind("rank");
    if (at == name.npos) continue;
    at += 4;
    if (at < name.size() && (name[at] == '_' || name[at] == '-')) ++at;
    int rank = -1;
    const auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), rank);
    if (error == std::errc() && rank >= 0) return rank;
  }
  return std::nullopt;
}

// The machine in a name that PyTorch's profiler gives a trace by itself: "node3_4711.1719390000000.pt.trace.json.gz".
std::string NodeInName(const std::string& input) {
  const std::string name = fs::path(input).filename().string();
  std::size_t at = name.find(".pt.trace.json");
  const auto skip_digits = [&] {
    const std::size_t end = at;
    while (at > 0 && at != name.npos && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
    return at < end;
  };
  if (at == name.npos || !skip_digits() || at == 0 || name[--at] != '.') return "";
  if (!skip_digits() || at < 2 || name[--at] != '_') return "";
  return name.substr(0, at);
}

// The rank by its only device, for ranks of one host that use one device each; -1 when it has more or none.
int OnlyDevice(const RankSummary& one) {
  return one.devices.size() == 1 ? static_cast<int>(one.devices.front().ordinal) : -1;
}

bool AllDistinct(const std::vector<int>& numbers) {
  return !std::ranges::any_of(numbers, [](int one) { return one < 0; }) &&
         std::set<int>(numbers.begin(), numbers.end()).size() == numbers.size();
}

void Number(std::vector<RankSummary>& all, std::vector<std::string>& warnings) {
  std::vector<int> said, named, device;
  for (const RankSummary& one : all) {
    said.push_back(one.run.rank);
    named.push_back(RankInName(one.input).value_or(-1));
    device.push_back(OnlyDevice(one));
  }
  for (RankSummary& one : all) {
    if (one.run.node.empty()) one.run.node = NodeInName(one.input);
  }
  const std::vector<int>* chosen = nullptr;
  for (const std::vector<int>* numbers : {&said, &named, &device}) {
    if (chosen == nullptr && AllDistinct(*numbers)) chosen = numbers;
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].run.rank = chosen != nullptr ? (*chosen)[i] : static_cast<int>(i);
  if (chosen == nullptr && all.size() > 1) {
    warnings.push_back(
        "the traces do not say which rank they are, or two say the same: ranks are numbered in the "
        "order of their names");
  }
  std::ranges::stable_sort(all, {}, [](const RankSummary& one) { return one.run.rank; });
}

void NameMissing(const std::vector<RankSummary>& all, std::vector<std::string>& warnings) {
  int count = static_cast<int>(all.size());
  std::set<int> there;
  for (const RankSummary& one : all) {
    count = std::max({count, one.run.ranks, one.run.rank + 1});
    there.insert(one.run.rank);
  }
  const std::size_t missing = static_cast<std::size_t>(count) - there.size();
  if (missing == 0 || all.empty()) return;
  std::vector<int> first;
  for (int rank = 0; rank < count && first.size() < kMostNamed; ++rank) {
    if (!there.contains(rank)) first.push_back(rank);
  }
  warnings.push_back(fmt::format("{} of {} ranks {} missing: {}{}", missing, count, missing == 1 ? "is" : "are",
                                 fmt::join(first, ", "), missing > first.size() ? " …" : ""));
}

// Where a run is bounded a rank may be a step ahead of another at its end.
void CompareSteps(const std::vector<RankSummary>& all, std::vector<std::string>& warnings) {
  const auto [least, most] = std::ranges::minmax_element(all, {}, &RankSummary::all_steps);
  if (least == all.end() || most->all_steps - least->all_steps <= std::max(2, most->all_steps / 10)) return;
  warnings.push_back(fmt::format("the ranks disagree on the number of steps: rank {} took {}, rank {} took {}",
                                 most->run.rank, most->all_steps, least->run.rank, least->all_steps));
}

}  // namespace

RankSelection SelectRanks(std::vector<RankSummary> all) {
  RankSelection selection;
  DropTwice(all, selection.warnings);
  const bool any_steps = std::ranges::any_of(all, [](const RankSummary& one) { return one.steps > 0; });
  if (any_steps) {
    std::erase_if(all, [](const RankSummary& one) { return one.steps == 0 && one.devices.empty(); });
  }
  DropForeign(all, selection.warnings);
  DropLater(all, selection.warnings);
  Number(all, selection.warnings);
  NameMissing(all, selection.warnings);
  CompareSteps(all, selection.warnings);
  selection.ranks = std::move(all);
  return selection;
}

}  // namespace loopscope
