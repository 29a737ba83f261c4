#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/prove/pilots.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostValues = 4;  // per treatment

// A contender with several values, and their results.
struct Screened {
  int contender = 0;
  std::string first, best;
  std::string why_not;  // the first did not apply
  std::vector<std::string> tried, left_out;
  LaunchResult fastest;
};

class Screening {
 public:
  Screening(const ExperimentInput& input, std::vector<Contender>& contenders, Together& together, LaunchSeries& series,
            FixPilots& pilots)
      : input_(input), contenders_(contenders), together_(together), series_(series), pilots_(pilots) {}

  void Run() {
    for (const int i : together_.Members()) {
      if (contenders_[i].candidate.values.size() > 1) Begin(i);
    }
    std::span<const OtherValue> left = others_;
    while (!left.empty() && !series_.stopped()) {
      const std::size_t count = WithTime(left);
      const std::vector<LaunchResult> results = together_.LaunchValues(left.first(count));
      for (std::size_t v = 0; v < count; ++v) Take(Of(left[v].contender), left[v].value, results[v]);
      if (count == 0) Of(left.front().contender).left_out.push_back(left.front().value);
      left = left.subspan(std::max<std::size_t>(count, 1));
    }
    for (Screened& one : screened_) Choose(one);
    LaunchChosen();
  }

 private:
  Screened& Of(int contender) { return *std::ranges::find(screened_, contender, &Screened::contender); }

  void Begin(int i) {
    Candidate& candidate = contenders_[i].candidate;
    std::vector<std::string> values = std::move(candidate.values);
    values.resize(std::min(values.size(), kMostValues));
    candidate.values = {values.front()};
    Screened& one = screened_.emplace_back();
    one.contender = i;
    one.first = values.front();
    one.why_not = WhyNotApplied(candidate.treatment->id, pilots_.all.applied);
    Take(one, one.first, pilots_.all);
    for (const std::string& value : std::span(values).subspan(1)) others_.push_back({i, value});
  }

  void Take(Screened& one, const std::string& value, const LaunchResult& result) {
    const std::string_view key = contenders_[one.contender].candidate.treatment->id;
    if (!result.ok() || !WhyNotApplied(key, result.applied).empty()) return;
    one.tried.push_back(fmt::format("{}: {:.4g} ms", value, result.ms_per_step));
    if (!one.best.empty() && result.ms_per_step >= one.fastest.ms_per_step) return;
    one.best = value;
    one.fastest = result;
  }

  // How many of the next values start together. A fix without an applicable value yet may use the whole budget.
  std::size_t WithTime(std::span<const OtherValue> left) {
    std::size_t count = std::min(left.size(), kStartAtOnce);
    const auto fits = [&](const OtherValue& one) {
      if (!Of(one.contender).best.empty()) return HasTimeBeforePairs(input_, pilots_, series_, count);
      return series_.spent_s() + static_cast<double>(count) * pilots_.all.wall_s < input_.options.budget_s;
    };
    while (count > 0 && !std::ranges::all_of(left.first(count), fits)) --count;
    return count;
  }

  void Choose(Screened& one) {
    auto& [candidate, state] = contenders_[one.contender];
    if (one.best.empty()) {
      state.verdict = TrialVerdict::kNotApplicable;
      state.reason = one.why_not;
      return;
    }
    candidate.values = {one.best};
    SetApplied(contenders_[one.contender], one.fastest);
    if (one.tried.size() > 1) {
      AddReason(state.note, fmt::format("the fastest of one launch each ({})", fmt::join(one.tried, ", ")));
    }
    if (!one.left_out.empty()) {
      AddReason(state.note, fmt::format("the budget left no time to try {}", fmt::join(one.left_out, ", ")));
    }
  }

  // A single changed value was already launched with the rest; several were not yet launched together.
  void LaunchChosen() {
    std::vector<Screened*> changed;
    for (Screened& one : screened_) {
      if (!one.best.empty() && one.best != one.first) changed.push_back(&one);
    }
    if (changed.empty() || series_.stopped()) return;
    const auto fastest =
        std::ranges::min_element(changed, {}, [](const Screened* one) { return one->fastest.ms_per_step; });
    if (changed.size() > 1) {
      const LaunchResult together = together_.Launch(together_.Members(), "ALL, the fastest values");
      if (together.ok() || series_.stopped()) {
        pilots_.all = together;
        return;
      }
      for (Screened* one : changed) {
        if (one != *fastest) contenders_[one->contender].candidate.values = {one->first};
      }
    }
    pilots_.all = (*fastest)->fastest;
  }

  const ExperimentInput& input_;
  std::vector<Contender>& contenders_;
  Together& together_;
  LaunchSeries& series_;
  FixPilots& pilots_;
  std::vector<Screened> screened_;
  std::vector<OtherValue> others_;
};

}  // namespace

void ScreenValues(const ExperimentInput& input, std::vector<Contender>& contenders, Together& together,
                  LaunchSeries& series, FixPilots& pilots) {
  Screening(input, contenders, together, series, pilots).Run();
}

}  // namespace loopscope
