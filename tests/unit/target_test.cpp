#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "profiler/cli/options.h"
#include "profiler/cli/parse.h"
#include "profiler/commands/command_table.h"
#include "profiler/experiments/target/procedure.h"
#include "profiler/launch/target_watch.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

using testing::HasSubstr;

// A program whose time to the target follows from its seed, the treatment and chance.
struct Trainings {
  std::mt19937_64 random{1};
  double speedup = 2, limit_s = 60, usual_s = 30, wiggle = 0.15;
  double never = 0;  // the share of baseline runs that never get there
  bool metric = true;
  std::string not_applicable = "";
  std::vector<LaunchSpec> log;

  LaunchResult operator()(const LaunchSpec& spec) {
    log.push_back(spec);
    LaunchResult result;
    const bool treated = !spec.treatment.empty();
    if (treated && not_applicable.empty()) {
      result.applied = {{spec.treatment[0].first, "here", "constant", spec.treatment[0].second, 0}};
    } else if (treated) {
      result.applied = {{spec.treatment[0].first, "", "", not_applicable, 1}};
    }
    result.wall_s = 2;
    if (!spec.target) return result;
    std::mt19937_64 seeded(spec.seed.value_or(0));
    std::normal_distribution<double> hard(0, 0.4), chance(0, wiggle);
    double seconds = usual_s * std::exp(hard(seeded) + chance(random)) / (treated ? speedup : 1);
    if (!treated && std::uniform_real_distribution<double>()(random) < never) seconds = 1e9;
    result.wall_s = std::min(seconds, spec.timeout_s);
    result.steps_seen = 10 * result.wall_s;
    result.samples_seen = 320 * result.wall_s;
    if (metric) result.best_metric = seconds <= spec.timeout_s ? 0.91 : 0.85;
    if (metric && seconds <= spec.timeout_s) result.target_s = seconds;
    return result;
  }
};

ToTargetInput Input(int seeds = 12) {
  ToTargetInput input;
  input.command = {"train"};
  input.candidates = {{FindTreatment("schedule"), {"onecycle"}, {}, 0}};
  input.options.blocks = seeds;
  input.options.budget_s = 1e6;
  input.watch.target = {"accuracy", 0.9, true};
  input.limit_s = 60;
  return input;
}

struct Outcome {
  Report report;
  Result<void> result;
};

Outcome Compared(const ToTargetInput& input, Trainings& program) {
  Outcome outcome;
  outcome.result = RunToTarget(input, std::ref(program), {}, outcome.report);
  return outcome;
}

TEST(Target, AQuickerWayIsCalledOverSeeds) {
  Trainings program;
  const auto [report, result] = Compared(Input(), program);
  ASSERT_TRUE(result.ok());
  const TrialRow& row = report.trials.at(0);
  EXPECT_EQ(row.verdict, TrialVerdict::kFaster) << row.reason;
  EXPECT_EQ(row.metric, "time-to-target");
  EXPECT_EQ(row.n, 12);
  ASSERT_EQ(report.target->arms.size(), 2u);
  EXPECT_GT(*report.target->comparisons[0].steps.estimate, 1.5);
  // Both arms of a seed train with it, and seeds differ.
  std::map<std::uint64_t, int> seeds;
  for (const LaunchSpec& spec : program.log) {
    if (spec.target) ++seeds[*spec.seed];
  }
  EXPECT_EQ(seeds.size(), 12u);
  for (const auto& [seed, count] : seeds) EXPECT_EQ(count, 2) << seed;
}

TEST(Target, CensoredRunsAreShownAsSuch) {
  Trainings program;
  program.never = 0.85;
  program.usual_s = 25;
  const auto [report, result] = Compared(Input(), program);
  ASSERT_TRUE(result.ok());
  const TrialRow& row = report.trials.at(0);
  EXPECT_EQ(row.verdict, TrialVerdict::kFaster);
  EXPECT_THAT(row.reason, HasSubstr("runs of baseline never reached it"));
  EXPECT_FALSE(report.target->arms[0].median_s) << "no number stands for runs that never got there";
  EXPECT_FALSE(row.ci95) << "its upper end is open";
  EXPECT_GT(report.target->comparisons[0].seconds.low.value_or(0), 1);
  for (const TargetRun& run : report.target->arms[0].runs) {
    if (!run.reached) {
      EXPECT_EQ(run.status, "not within the limit");
    }
  }
}

// The same program twice: the share of experiments that call it faster or slower, with a quarter of the runs censored.
TEST(Target, NoEffectIsRarelyCalled) {
  int called = 0;
  const int experiments = 400;
  for (int i = 0; i < experiments; ++i) {
    Trainings program;
    program.random.seed(static_cast<std::uint64_t>(i));
    program.speedup = 1;
    program.usual_s = 45;
    ToTargetInput input = Input(8);
    input.options.seed = static_cast<std::uint64_t>(1000 * i);
    const auto [report, result] = Compared(input, program);
    if (!result.ok()) continue;  // no arm reached it with the first seed
    called += report.trials[0].verdict == TrialVerdict::kFaster || report.trials[0].verdict == TrialVerdict::kSlower;
  }
  EXPECT_LE(called, 33) << "5 % and three standard deviations";
}

TEST(Target, FewSeedsCallNothing) {
  Trainings program;
  const auto [report, result] = Compared(Input(5), program);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(report.trials[0].verdict, TrialVerdict::kInconclusive);
  EXPECT_THAT(report.trials[0].reason, HasSubstr("under 6 seeds"));
}

TEST(Target, WhatCannotBeToldIsSaidAfterTheFirstSeed) {
  Trainings silent;
  silent.metric = false;
  ToTargetInput input = Input();
  auto missing = Compared(input, silent);
  ASSERT_FALSE(missing.result.ok());
  EXPECT_EQ(missing.result.error().exit_code, 3);
  EXPECT_THAT(missing.result.error().Message(), HasSubstr("no metric named accuracy"));
  EXPECT_EQ(silent.log.size(), 4u) << "two short launches and one seed";
  input.watch.regex = "acc ([0-9.]+)";
  EXPECT_THAT(Compared(input, silent).result.error().Message(), HasSubstr("nothing that the program printed matched"));
  Trainings slow;
  slow.usual_s = 1e6;
  const auto never = Compared(Input(), slow);
  ASSERT_FALSE(never.result.ok());
  EXPECT_EQ(never.result.error().exit_code, 3);
  EXPECT_THAT(never.result.error().Message(), HasSubstr("the best was 0.85"));
}

TEST(Target, ATreatmentThatChangesNothingIsNotTrained) {
  Trainings program;
  program.not_applicable = "the program has no such knob";
  const auto [report, result] = Compared(Input(), program);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(report.trials[0].verdict, TrialVerdict::kNotApplicable);
  EXPECT_EQ(program.log.size(), 2u);
}

TEST(Target, TheBudgetEndsTheSeeds) {
  Trainings program;
  ToTargetInput input = Input();
  input.options.budget_s = 200;
  const auto [report, result] = Compared(input, program);
  ASSERT_TRUE(result.ok());
  EXPECT_LT(report.trials[0].n, 12);
  EXPECT_THAT(report.trials[0].reason, HasSubstr("the budget held"));
}

TEST(Target, OptionsAreChecked) {
  const auto parsed = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"prove"});
    words.insert(words.end(), {"--", "./train"});
    return ParseOptions(AllCommands(), words);
  };
  const auto mistake = [&](const std::vector<std::string>& words) {
    const auto options = parsed(words);
    EXPECT_FALSE(options.ok());
    if (options) return std::string();
    EXPECT_EQ(options.error().exit_code, 2);
    return options.error().Message();
  };
  EXPECT_THAT(mistake({"--target", "accuracy"}), HasSubstr("is not a target"));
  EXPECT_THAT(mistake({"--target", "accuracy=high"}), HasSubstr("is not a target"));
  EXPECT_THAT(mistake({"--target", "accuracy=0.9"}), HasSubstr("no treatments to compare"));
  EXPECT_THAT(mistake({"--metric-regex", "x (.*)"}), HasSubstr("no target"));
  EXPECT_THAT(mistake({"--target", "a=1", "--only", "clip", "--metric-regex", "acc [0-9]+"}),
              HasSubstr("has no group"));
  EXPECT_THAT(mistake({"--target", "a=1", "--only", "clip", "--metric-regex", "acc ("}),
              HasSubstr("not a regular expression"));
  const auto good = parsed({"--target", "val_loss=0.3", "--only", "clip", "--metric-regex", "loss (.*)"});
  ASSERT_TRUE(good.ok()) << good.error().Message();
  EXPECT_FALSE(good->target.target.at_least) << "a loss is to come down";
  EXPECT_TRUE(parsed({"--target", "accuracy=0.9", "--only", "clip"})->target.target.at_least);
  EXPECT_TRUE(parsed({"--target", "loss>=2", "--only", "clip"})->target.target.at_least);
}

TEST(TargetFollower, ReadsWhatIsPrintedAsItComes) {
  const auto folder = std::filesystem::temp_directory_path() / ("target_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const TargetWatch watch{{"accuracy", 0.9, true}, "accuracy ([^ ]+)"};
  TargetFollower follower(watch, folder, folder / "output.txt");
  EXPECT_FALSE(follower.Reached(1)) << "nothing was printed yet";
  std::ofstream output(folder / "output.txt");
  output << "epoch 1 accuracy 0.5\nepoch 2 accuracy nan\nepoch 3 accuracy 0.9" << std::flush;
  EXPECT_FALSE(follower.Reached(2)) << "half a line may go on: 0.9 may be 0.9e-3";
  EXPECT_EQ(follower.best(), 0.5);
  EXPECT_EQ(follower.unreadable(), 1);
  output << "1\r" << std::string(100'000, 'x') << "accuracy 1\n" << std::flush;
  EXPECT_TRUE(follower.Reached(3)) << "a progress bar ends its line with a carriage return";
  EXPECT_EQ(follower.reached_s(), 3);
  EXPECT_EQ(follower.best(), 0.91);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace loopscope
