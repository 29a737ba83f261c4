#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/core/launch_text.h"
#include "profiler/experiments/prove/experiment.h"
#include "profiler/experiments/prove/live.h"
#include "profiler/launch/launch_environment.h"
#include "profiler/treatments/treatments.h"
#include "tests/support/scripted_launcher.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Candidate Fix(const std::string& id, const std::string& value, double cost_ms = 1) {
  return {FindTreatment(id), {value}, {"rule-of-" + id}, cost_ms};
}

ExperimentInput Input(std::vector<Candidate> candidates) {
  ExperimentInput input;
  input.command = {"train"};
  input.candidates = std::move(candidates);
  input.options.budget_s = 600;
  input.options.min_window_s = 0.5;
  input.options.live = true;
  input.step_ms = 20;
  return input;
}

ScriptedProgram Program(unsigned seed, double noise = 0.04) {
  ScriptedProgram program(seed);
  program.ms_per_step = 20;
  program.noise = noise;
  program.treatments["debug"] = {.factor = 0.5};
  program.treatments["optimizer.impl"] = {.factor = 0.9};
  program.treatments["amp"] = {.factor = 1.5};
  return program;
}

const TrialRow* Find(const Report& report, const std::string& treatment) {
  const auto found = std::ranges::find(report.trials, treatment, &TrialRow::treatment);
  return found == report.trials.end() ? nullptr : &*found;
}

Report Quick(ScriptedProgram& program, const ExperimentInput& input) {
  Report report;
  const Result<void> done = RunQuick(input, std::ref(program), {}, report);
  EXPECT_TRUE(done) << (done ? "" : done.error().Message());
  return report;
}

TEST(LivePlan, LeavesOutWhatNoComparisonNeeds) {
  const std::vector<Candidate> three{Fix("debug", "off"), Fix("amp", "bf16"), Fix("optimizer.impl", "fused")};
  LiveSizes sizes{.step_ms = 20, .seconds = 600};
  const LivePlan live = PlanLive(three, sizes);
  EXPECT_THAT(live.schedule.arms, ElementsAre(7u, 6u, 5u, 3u)) << "ALL and ALL without one each; no baseline";
  EXPECT_EQ(LiveText(live.schedule), "1 7 abc,bc,ac,ab");
  EXPECT_EQ(LiveTreatmentText(live.schedule), "debug=off;amp=bf16;optimizer.impl=fused");
  EXPECT_EQ(live.steps(), 20 * 4 * 7);
  sizes.seconds = 1;
  EXPECT_EQ(PlanLive(three, sizes).rounds, 0) << "too few rounds to say anything";
  EXPECT_EQ(PlanLive(std::vector{Fix("debug", "off")}, {.step_ms = 20, .seconds = 600}).schedule.arms.size(), 2u);
}

TEST(LivePlan, ALoaderThatRunsAheadIsWaitedOut) {
  const std::vector<Candidate> one{Fix("debug", "off")};
  const LivePlan live = PlanLive(one, {.step_ms = 20, .run_ahead = 8, .seconds = 600});
  EXPECT_EQ(live.settle, 8);
  EXPECT_EQ(live.schedule.block_steps, 8 + 16);
}

TEST(LivePairs, SayWhatEachBringsInOneLaunch) {
  ScriptedProgram program = Program(1);
  const Report report = Quick(program, Input({Fix("debug", "off"), Fix("optimizer.impl", "fused"), Fix("amp", "bf16"),
                                              Fix("loader.workers", "2")}));
  EXPECT_EQ(program.log.size(), 1u);
  const TrialRow* debug = Find(report, "debug");
  ASSERT_TRUE(debug && debug->speedup);
  EXPECT_EQ(debug->method, "live");
  EXPECT_EQ(debug->verdict, TrialVerdict::kFaster);
  EXPECT_NEAR(*debug->speedup, 2, 0.1) << "the steps right after a switch are left out";
  EXPECT_EQ(Find(report, "optimizer.impl")->verdict, TrialVerdict::kFaster);
  EXPECT_EQ(Find(report, "amp")->verdict, TrialVerdict::kSlower);
  EXPECT_THAT(LossText(debug->loss), HasSubstr("cannot tell"));
  EXPECT_THAT(Find(report, "loader.workers")->reason, HasSubstr("cannot be switched between steps"));
  EXPECT_FALSE(report.combined) << "one launch recommends nothing";
}

TEST(LivePairs, UnchangedTimesAreSeldomCalled) {
  int called = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    ScriptedProgram program = Program(seed);
    for (auto& [key, treatment] : program.treatments) treatment.factor = 1;
    const Report report = Quick(program, Input({Fix("debug", "off"), Fix("amp", "bf16")}));
    called += std::ranges::any_of(report.trials, [](const TrialRow& row) {
      return row.verdict == TrialVerdict::kFaster || row.verdict == TrialVerdict::kSlower;
    });
  }
  EXPECT_LE(called, 20) << "5 % of 200 and three standard deviations";
}

TEST(LivePairs, AFixThatSlowsTheStepsDownDoesNotOutlastTheBudget) {
  ScriptedProgram program = Program(2);
  program.treatments["amp"].factor = 30;
  ExperimentInput input = Input({Fix("debug", "off"), Fix("amp", "bf16")});
  input.options.budget_s = 60;
  double spent_s = 0;
  const Launcher counted = [&](const LaunchSpec& spec) {
    LaunchResult result = program(spec);
    spent_s += result.wall_s;
    return result;
  };
  Report report;
  ASSERT_TRUE(RunQuick(input, counted, {}, report));
  EXPECT_LE(spent_s, 60);
  EXPECT_THAT(Find(report, "amp")->reason, HasSubstr("rounds: steps took longer than in the diagnosis"));
}

TEST(LivePairs, ATreatmentThatDoesNotActIsNotJudged) {
  ScriptedProgram program = Program(3);
  program.treatments["debug"].not_applicable = "already off";
  program.treatments["optimizer.impl"].acts_live = false;
  const Report report =
      Quick(program, Input({Fix("debug", "off"), Fix("optimizer.impl", "fused"), Fix("amp", "bf16")}));
  EXPECT_EQ(Find(report, "debug")->verdict, TrialVerdict::kNotApplicable);
  EXPECT_EQ(Find(report, "debug")->reason, "already off");
  EXPECT_EQ(Find(report, "optimizer.impl")->verdict, TrialVerdict::kNotApplicable);
  EXPECT_THAT(Find(report, "optimizer.impl")->reason, HasSubstr("changed nothing"));
  EXPECT_FALSE(Find(report, "optimizer.impl")->speedup);
  EXPECT_EQ(Find(report, "amp")->verdict, TrialVerdict::kSlower);
}

TEST(LivePairs, ATreatmentThatActsWhenItIsOffIsNotJudged) {
  ScriptedProgram program = Program(4);
  const Launcher leaks = [&](const LaunchSpec& spec) {
    LaunchResult result = program(spec);
    for (LiveBlock& block : result.live) block.acted |= 1;
    return result;
  };
  Report report;
  ASSERT_TRUE(RunQuick(Input({Fix("debug", "off"), Fix("amp", "bf16")}), leaks, {}, report));
  EXPECT_EQ(Find(report, "debug")->verdict, TrialVerdict::kInconclusive);
  EXPECT_THAT(Find(report, "debug")->reason, HasSubstr("it was off"));
}

TEST(LivePairs, AFailingLaunchBlamesTheSwitching) {
  ScriptedProgram program = Program(5);
  program.dies = [](const LaunchSpec&, int) { return true; };
  Report report;
  const Result<void> done = RunQuick(Input({Fix("debug", "off")}), std::ref(program), {}, report);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().exit_code, 4);
  EXPECT_THAT(done.error().Message(), HasSubstr("treatments were switched between its steps (signal 9)"));
}

TEST(LiveScreening, DropsAClearLoserAndPutsTheBestFirst) {
  ScriptedProgram program = Program(6, 0.02);
  ExperimentInput input = Input({Fix("amp", "bf16", 30), Fix("optimizer.impl", "fused", 20), Fix("debug", "off", 1)});
  Report report;
  ASSERT_TRUE(RunExperiment(input, std::ref(program), {}, report));
  const TrialRow* amp = Find(report, "amp");
  ASSERT_TRUE(amp);
  EXPECT_EQ(amp->verdict, TrialVerdict::kDropped);
  EXPECT_THAT(amp->reason, HasSubstr("in live pairs of one launch"));
  EXPECT_EQ(report.trials.front().treatment, "debug");
  EXPECT_EQ(Find(report, "debug")->verdict, TrialVerdict::kFaster);
  EXPECT_EQ(Find(report, "debug")->method, "exact") << "launches decide";
  for (const LaunchSpec& spec : program.log) {
    const bool timed = spec.label.starts_with("block");
    EXPECT_TRUE(!timed || std::ranges::count(spec.treatment, "amp", &std::pair<std::string, std::string>::first) == 0);
  }
  EXPECT_EQ(std::ranges::count_if(program.log, [](const LaunchSpec& spec) { return spec.live.has_value(); }), 1);
}

TEST(LiveScreening, KeepsTheBudgetAsAWhole) {
  for (const double budget : {60.0, 120.0, 300.0, 900.0}) {
    ScriptedProgram program = Program(8);
    double spent = 0;
    const Launcher counted = [&](const LaunchSpec& spec) {
      LaunchResult result = program(spec);
      spent += result.wall_s;
      return result;
    };
    ExperimentInput input = Input({Fix("optimizer.impl", "fused"), Fix("debug", "off"), Fix("amp", "bf16")});
    input.options.budget_s = budget;
    Report report;
    ASSERT_TRUE(RunExperiment(input, counted, {}, report));
    EXPECT_LE(spent, 1.1 * budget);
  }
}

TEST(LiveScreening, TakesAFifthOfTheBudgetAtMost) {
  ScriptedProgram program = Program(7);
  ExperimentInput input = Input({Fix("optimizer.impl", "fused"), Fix("debug", "off")});
  Report report;
  ASSERT_TRUE(RunExperiment(input, std::ref(program), {}, report));
  const auto live = std::ranges::find_if(program.log, [](const LaunchSpec& spec) { return spec.live.has_value(); });
  ASSERT_NE(live, program.log.end());
  EXPECT_LE((live->warmup + live->steps) * program.ms_per_step / 1e3, 0.2 * input.options.budget_s);
  program.log.clear();
  input.options.budget_s = 30;
  ASSERT_TRUE(RunExperiment(input, std::ref(program), {}, report));
  EXPECT_TRUE(std::ranges::none_of(program.log, [](const LaunchSpec& spec) { return spec.live.has_value(); }));
}

}  // namespace
}  // namespace loopscope
