#include "profiler/experiments/prove/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/launch_results.h"

namespace loopscope {

std::vector<int> Together::Members() const {
  std::vector<int> members;
  for (int i = 0; i < static_cast<int>(contenders_.size()); ++i) {
    if (contenders_[i].together()) members.push_back(i);
  }
  return members;
}

Arm Together::ArmOf(const std::vector<int>& members, const std::string& name) const {
  return {.name = name, .settings = SettingsOf(members, contenders_)};
}

LaunchResult Together::Held(LaunchResult result) const {
  return HeldTo(baseline_, std::move(result), SameWorkOf(CandidatesIn(contenders_)));
}

LaunchResult Together::Launch(const std::vector<int>& members, const std::string& name) {
  return Held(run_.Launch(ArmOf(members, name)));
}

std::vector<LaunchResult> Together::LaunchValues(std::span<const OtherValue> others) {
  std::vector<Arm> arms;
  for (const OtherValue& other : others) {
    Candidate& candidate = contenders_[other.contender].candidate;
    const std::vector<std::string> before = std::exchange(candidate.values, {other.value});
    arms.push_back(ArmOf(Members(), fmt::format("ALL, {}", candidate.Setting())));
    candidate.values = before;
  }
  std::vector<LaunchResult> results = run_.LaunchBeside(arms);
  for (LaunchResult& result : results) result = Held(std::move(result));
  return results;
}

LaunchResult Together::LaunchAll(const std::optional<LaunchResult>& first) {
  for (int attempt = 1;; ++attempt) {
    const std::vector<int> members = Members();
    if (members.empty()) return baseline_;
    const std::string name = attempt == 1 ? "ALL" : fmt::format("ALL, attempt {}", attempt);
    LaunchResult all = attempt == 1 && first ? Held(*first) : Launch(members, name);
    if (all.ok() || series_.stopped()) return all;
    const Culprits found = CulpritsOf(members, all, attempt);
    if (found.only_whole && !series_.stopped()) {
      all = Launch(members, name + ", repeated");
      if (all.ok()) return all;
    }
    if (series_.stopped()) return all;
    if (found.suspects.size() == 1) {
      TakeOut(found.suspects.front(), all);
    } else {
      TakeOutUntried(found.suspects, all);
    }
  }
}

// Fixes that compile take longest to try: one launch without them clears all the others.
Culprits Together::CulpritsOf(std::vector<int> members, const LaunchResult& all, int attempt) {
  const auto compiling =
      std::ranges::stable_partition(members, [&](int i) { return !contenders_[i].candidate.treatment->compiles; });
  const std::size_t others = members.size() - compiling.size(), count = members.size();
  const auto works = [&](const std::vector<int>& some) {
    return Launch(some, fmt::format("bisecting {}, {} of {}", attempt, some.size(), count)).ok();
  };
  return FindCulprits({.members = std::move(members), .first = others, .works = works, .may_go_on = [&] {
                         return !series_.stopped() && HasTimeToSearch(all);
                       }});
}

// Whether another launch as long as `all` leaves time for pairs of launches as long as the baseline's.
bool Together::HasTimeToSearch(const LaunchResult& all) const {
  return series_.spent_s() + all.wall_s <= MayBeSpentBeforePairs(input_, {baseline_, baseline_, run_});
}

// A culprit that works alone is measured alone.
void Together::TakeOut(int i, const LaunchResult& all) {
  Contender& one = contenders_[i];
  if (!HasTimeToSearch(all)) {
    Drop(one, fmt::format("the others fail with it ({}), and the budget left no time to try it alone", FailureOf(all)));
    return;
  }
  const LaunchResult alone = Launch({i}, one.candidate.Setting());
  if (series_.stopped()) return;
  if (!alone.ok()) return Fail(one, alone);
  one.state.in_all = false;
  one.candidate.values.resize(1);
  one.state.note = "fails together with the others: " + FailureOf(all);
  SetApplied(one, alone);
}

void Together::TakeOutUntried(const std::vector<int>& suspects, const LaunchResult& all) {
  std::vector<std::string> settings;
  for (const int i : suspects) settings.push_back(contenders_[i].candidate.Setting());
  for (const int i : suspects) {
    Drop(contenders_[i],
         fmt::format("all fixes together fail ({}), and the budget left no time to find out which of {} is to blame "
                     "(--budget, --only)",
                     FailureOf(all), fmt::join(settings, ", ")));
  }
}

void SetApplied(Contender& contender, const LaunchResult& result) {
  auto& [candidate, state] = contender;
  const std::string_view key = candidate.treatment->id;
  state.applied = AppliedUnder(key, result.applied);
  const std::string why = WhyNotApplied(key, result.applied);
  // With other values to try it is too early to say.
  if (why.empty() || candidate.values.size() > 1) return;
  state.verdict = FailedToApply(key, result.applied) ? TrialVerdict::kFailed : TrialVerdict::kNotApplicable;
  state.reason = why;
}

void Fail(Contender& contender, const LaunchResult& result) {
  contender.state.verdict = TrialVerdict::kFailed;
  contender.state.reason = FailureOf(result);
}

void Drop(Contender& contender, std::string why) {
  contender.state.verdict = TrialVerdict::kDropped;
  contender.state.reason = std::move(why);
}

namespace {

constexpr std::size_t kChecksAtLeast = 2;  // launches: the untreated program, and all fixes that keep every bit

}  // namespace

double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots, int pairs) {
  const double budget_s = input.options.budget_s;
  if (!input.options.until_decided || !pilots.all.ok()) return budget_s;
  std::vector<Arm> arms(2);
  Estimate(arms[0], pilots.baseline);
  Estimate(arms[1], pilots.all);
  (void)pilots.run.FinalWindowOf(arms, {.run_ahead = RunAhead(input.candidates, input.loader)});
  return budget_s - pairs * (arms[0].wall_s + arms[1].wall_s);
}

bool HasTimeBeforePairs(const ExperimentInput& input, const FixPilots& pilots, const LaunchSeries& series,
                        std::size_t launches) {
  const double needed_s = static_cast<double>(launches + kChecksAtLeast) * pilots.all.wall_s;
  return series.spent_s() + needed_s <= MayBeSpentBeforePairs(input, pilots);
}

Culprits FindCulprits(const CulpritSearch& search) {
  const std::vector<int>& all = search.members;
  const auto at = [&](std::size_t count) { return all.begin() + static_cast<std::ptrdiff_t>(count); };
  std::size_t works = 0, fails = all.size();
  std::size_t next = search.first > 0 && search.first < fails ? search.first : fails / 2;
  while (fails - works > 1 && search.may_go_on()) {
    (search.works({all.begin(), at(next)}) ? works : fails) = next;
    next = (works + fails) / 2;
  }
  return {.suspects = {at(works), at(fails)}, .only_whole = fails == all.size() && fails - works == 1};
}

}  // namespace loopscope
