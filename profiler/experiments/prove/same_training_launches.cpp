#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profiler/experiments/prove/same_training.h"

namespace loopscope {
namespace {

constexpr double kBudgetShare = 0.25;  // of all launches' time, for a program that does not repeat itself
constexpr double kFalseAlarm = 0.05;   // over all candidates, in that case
constexpr char kAllExact[] = "all exact fixes", kBaselineAgain[] = "baseline 2",
               kFixedBaseline[] = "baseline, fixed samples";
constexpr char kNoTime[] = "the budget left no time to compare its losses (--budget)";

bool KeepsBits(const Candidate& candidate) {
  const Exactness exactness = candidate.treatment->exactness;
  return exactness == Exactness::kExact || exactness == Exactness::kExactIf;
}

class CheckPhase {
 public:
  CheckPhase(const ExperimentInput& input, std::vector<Contender>& contenders, const FixPilots& pilots,
             LaunchSeries& series)
      : input_(input),
        contenders_(contenders),
        series_(series),
        launch_s_(pilots.all.wall_s),
        until_s_(MayBeSpentBeforePairs(input, pilots)) {}

  void Run() {
    if (!HasTimeFor(2)) {
      return ForEach([](const Candidate&) { return true; }, [&](int i) { CannotTellOf(i, kNoTime); });
    }
    const std::vector<int> exact = ExactMembers();
    StartTogether({{{}, "baseline"}, {exact, exact.empty() ? kBaselineAgain : kAllExact}});
    baselines_.push_back(Launch({}, "baseline"));
    if (!baselines_[0].ok() || baselines_[0].losses.empty()) {
      const std::string why = baselines_[0].ok() ? "no losses were seen" : FailureOf(baselines_[0]);
      return ForEach([](const Candidate&) { return true; }, [&](int i) { CannotTellOf(i, why); });
    }
    CheckBits();
    StartTogether(Others());
    ForEach([](const Candidate& one) { return one.treatment->exactness == Exactness::kChangesTraining; },
            [&](int i) { CannotTellOf(i, "it changes training on purpose"); });
    ForEach([](const Candidate& one) { return one.treatment->exactness == Exactness::kResampled; },
            [&](int i) { CheckResampled(i); });
    if (repeats_) {
      CheckSeeds();
      ForEach([](const Candidate& one) { return one.treatment->exactness == Exactness::kNumeric; },
              [&](int i) { CheckNumeric(i); });
    } else {
      CheckSpread();
    }
  }

 private:
  template <class Which, class Do>
  void ForEach(Which which, Do act) {
    for (int i = 0; i < static_cast<int>(contenders_.size()); ++i) {
      if (contenders_[i].alive() && which(contenders_[i].candidate) && !series_.stopped()) act(i);
    }
  }

  LaunchSpec Spec(std::vector<int> members, const std::string& name, bool hash_samples) const {
    std::ranges::sort(members);
    // One step of warm-up suffices: losses are recorded from the first step on.
    LaunchSpec spec = SpecOf(input_.options, input_.clock, {1, input_.options.check_steps}, "check, " + name);
    spec.mode = LaunchMode::kCheck;
    spec.hash_samples = hash_samples;
    spec.treatment = SettingsOf(members, contenders_);
    return spec;
  }

  LaunchResult Launch(std::vector<int> members, const std::string& name, bool hash_samples = false,
                      std::uint64_t seed_offset = 0) {
    if (const auto made = made_.find(name); made != made_.end()) return made->second;
    LaunchSpec spec = Spec(std::move(members), name, hash_samples);
    if (spec.seed) *spec.seed += seed_offset;
    return series_.Insist(spec);
  }

  struct Planned {
    std::vector<int> members;
    std::string name;
    bool hash_samples = false;
  };

  // Starts independent launches together: their start-ups, most of a check's time, overlap, and their steps take turns.
  // Launch() then returns their results. Remaining ones are launched on demand.
  void StartTogether(const std::vector<Planned>& planned) {
    for (std::size_t next = 0; next + 1 < planned.size() && series_.takes_turns(); next += kStartAtOnce) {
      if (series_.stopped() || !HasTimeFor(kStartAtOnce)) return;
      std::vector<LaunchSpec> specs;
      for (std::size_t i = next; i < next + kStartAtOnce; ++i) {
        specs.push_back(Spec(planned[i].members, planned[i].name, planned[i].hash_samples));
        specs.back().turn_steps = specs.back().steps;
      }
      const std::vector<LaunchResult> results = series_.RunTogether(specs);
      for (std::size_t i = 0; i < results.size(); ++i) made_[planned[next + i].name] = results[i];
    }
  }

  std::vector<int> ExactMembers() {
    std::vector<int> members;
    ForEach(KeepsBits, [&](int i) {
      if (contenders_[i].state.in_all) members.push_back(i);
    });
    return members;
  }

  // Check launches whose references have been launched by now.
  std::vector<Planned> Others() {
    std::vector<Planned> planned;
    ForEach([](const Candidate& one) { return one.treatment->exactness == Exactness::kResampled; },
            [&](int i) {
              planned.push_back({Over(i), FixedSamplesName(i), true});
            });
    if (!planned.empty()) planned.insert(planned.begin(), {identical_, kFixedBaseline, true});
    if (!repeats_) return planned;
    ForEach([](const Candidate& one) { return one.treatment->exactness == Exactness::kNumeric; },
            [&](int i) {
              planned.push_back({Over(i), contenders_[i].candidate.Setting()});
            });
    return planned;
  }

  std::string FixedSamplesName(int i) const { return contenders_[i].candidate.Setting() + ", fixed samples"; }
  // Whether `name` was launched, or there is time for it and for its reference.
  bool CanLaunch(const std::string& name, int launches) const { return made_.contains(name) || HasTimeFor(launches); }
  bool HasTimeFor(int launches) const { return series_.spent_s() + launches * launch_s_ <= until_s_; }

  // The candidate on top of the fixes proved bit-identical.
  std::vector<int> Over(int i) const {
    std::vector<int> members = contenders_[i].state.in_all ? identical_ : std::vector<int>{};
    members.push_back(i);
    return members;
  }

  void CannotTellOf(int i, const std::string& why) {
    contenders_[i].state.loss.verdict = LossVerdict::kCannotTell;
    contenders_[i].state.loss.detail = why;
  }

  void Set(int i, LossFacts facts) {
    if (series_.stopped()) return;
    auto& [candidate, state] = contenders_[i];
    state.loss = std::move(facts);
    if (!IsDifferent(state.loss)) return;
    state.verdict = TrialVerdict::kDifferentTraining;
    state.reason = LossText(state.loss);
    if (candidate.treatment->exactness == Exactness::kExactIf) {
      state.reason += fmt::format("; it is exact only if {}", candidate.treatment->condition);
    }
  }

  void CheckBits() {
    const std::vector<int> group = ExactMembers();
    std::vector<int> apart;
    ForEach(KeepsBits, [&](int i) {
      if (!contenders_[i].state.in_all) apart.push_back(i);
    });
    if (!group.empty()) {
      const LaunchResult together = Launch(group, kAllExact);
      repeats_ = together.ok() && BitIdentical(baselines_[0].losses, together.losses);
      if (repeats_) {
        identical_ = group;
        for (const int i : group) Set(i, JudgeExact(baselines_[0], together));
      }
    }
    if (!repeats_) {
      baselines_.push_back(Launch({}, kBaselineAgain));
      repeats_ = baselines_[1].ok() && BitIdentical(baselines_[0].losses, baselines_[1].losses);
      apart.insert(apart.end(), group.begin(), group.end());
    }
    if (!repeats_) return;
    for (const int i : apart) CheckExact(i);
    if (identical_.empty()) {
      std::ranges::copy_if(apart, std::back_inserter(identical_), [&](int i) {
        const CandidateState& state = contenders_[i].state;
        return contenders_[i].alive() && state.in_all && !CannotTell(state.loss);
      });
    }
  }

  void CheckResampled(int i) {
    if (!CanLaunch(FixedSamplesName(i), fixed_samples_ ? 1 : 2)) return CannotTellOf(i, kNoTime);
    if (!fixed_samples_) fixed_samples_ = Launch(identical_, kFixedBaseline, true);
    LossFacts facts = JudgeResampled(*fixed_samples_, Launch(Over(i), FixedSamplesName(i), true));
    // A program that still does not repeat itself may be judged by its spread.
    if (!repeats_ && !BitIdentical(facts.baseline, facts.treated)) return;
    Set(i, std::move(facts));
  }

  void CheckExact(int i) {
    if (!HasTimeFor(1)) return CannotTellOf(i, kNoTime);
    Set(i, JudgeExact(baselines_[0], Launch({i}, contenders_[i].candidate.Setting())));
  }

  void CheckNumeric(int i) {
    if (!CanLaunch(contenders_[i].candidate.Setting(), 1)) return CannotTellOf(i, kNoTime);
    Set(i, JudgeNumeric(baselines_[0], Launch(Over(i), contenders_[i].candidate.Setting())));
  }

  bool Affords(int launches) const {
    return launches * baselines_[0].wall_s <= kBudgetShare * input_.options.budget_s && HasTimeFor(launches);
  }

  // Different draws are distinguished from different training by the spread over seeds: no two launches share a seed.
  void CheckSeeds() {
    std::vector<int> open;
    ForEach([](const Candidate&) { return true; },
            [&](int i) {
              if (contenders_[i].state.loss.only_draws_differ) open.push_back(i);
            });
    if (open.empty() || !input_.options.seed_programs) return;
    const double alpha = kFalseAlarm / static_cast<double>(open.size());
    const int curves = TreatedCurvesFor(alpha);
    const int launches = kSpreadBaselines - 1 + curves * static_cast<int>(open.size());
    if (!Affords(launches)) {
      for (const int i : open) {
        contenders_[i].state.loss.detail += fmt::format(", and the budget does not hold {} check launches", launches);
      }
      return;
    }
    std::vector<LaunchResult> untreated{baselines_[0]};
    std::uint64_t seed = 0;
    for (int n = 2; n <= kSpreadBaselines; ++n) {
      untreated.push_back(Launch(identical_, fmt::format("baseline, seed {}", n), false, ++seed));
      if (BitIdentical(untreated[0].losses, untreated.back().losses)) {
        for (const int i : open) contenders_[i].state.loss.detail += ", and takes no other seed";
        return;
      }
    }
    for (const int i : open) {
      std::vector<LaunchResult> treated;
      for (int n = 1; n <= curves; ++n) {
        ++seed;
        treated.push_back(
            Launch(Over(i), fmt::format("{}, seed {}", contenders_[i].candidate.Setting(), seed + 1), false, seed));
      }
      Set(i, JudgeAgainstSpread(untreated, treated, alpha));
    }
  }

  void CheckSpread() {
    std::vector<int> open;
    ForEach([](const Candidate&) { return true; },
            [&](int i) {
              if (contenders_[i].state.loss.verdict == LossVerdict::kUnjudged) open.push_back(i);
            });
    if (open.empty()) return;
    const double alpha = kFalseAlarm / static_cast<double>(open.size());
    const int curves = TreatedCurvesFor(alpha);
    const int launches = kSpreadBaselines - 2 + curves * static_cast<int>(open.size());
    if (!Affords(launches)) {
      for (const int i : open) {
        CannotTellOf(i, fmt::format("untreated losses differ from run to run, and the budget does not hold {} check "
                                    "launches",
                                    launches));
      }
      return;
    }
    for (int n = 3; n <= kSpreadBaselines; ++n) baselines_.push_back(Launch({}, fmt::format("baseline {}", n)));
    for (const int i : open) {
      std::vector<LaunchResult> treated;
      for (int n = 1; n <= curves; ++n) {
        treated.push_back(Launch({i}, fmt::format("{}, {}", contenders_[i].candidate.Setting(), n)));
      }
      Set(i, JudgeAgainstSpread(baselines_, treated, alpha));
    }
  }

  const ExperimentInput& input_;
  std::vector<Contender>& contenders_;
  LaunchSeries& series_;
  double launch_s_, until_s_;  // seconds of one launch; spent seconds by which the last one must end
  std::vector<LaunchResult> baselines_;
  std::map<std::string, LaunchResult> made_;  // by StartTogether
  std::optional<LaunchResult> fixed_samples_;
  std::vector<int> identical_;  // candidates under which the losses are proved the same bit for bit
  bool repeats_ = false;        // the untreated program gives the same losses again
};

}  // namespace

void CheckTraining(const ExperimentInput& input, std::vector<Contender>& contenders, const FixPilots& pilots,
                   LaunchSeries& series) {
  // The pilots' launches show how long these will take.
  const double launch_s = pilots.all.wall_s;
  const int launches = static_cast<int>(std::ranges::count_if(contenders, &Contender::alive)) + 2;
  series.Expect(launches, launches * launch_s);
  CheckPhase(input, contenders, pilots, series).Run();
}

}  // namespace loopscope
