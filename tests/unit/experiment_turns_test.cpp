// Blocks whose programs run side by side, in turns: the experiment's logic, without programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "profiler/experiments/prove/experiment.h"
#include "profiler/treatments/treatments.h"
#include "tests/support/scripted_launcher.h"

namespace loopscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

ScriptedProgram TypicalProgram() {
  ScriptedProgram program(3);
  program.treatments["debug"] = {.factor = 1 / 4.0};
  program.treatments["amp"] = {.factor = 1 / 1.5};
  return program;
}

ExperimentInput SixBlocks() {
  ExperimentInput input;
  input.command = {"train"};
  input.candidates = {{FindTreatment("debug"), {"off"}, {"debug-left-on"}, 50},
                      {FindTreatment("amp"), {"bf16"}, {"fp32-compute"}, 30}};
  input.options.blocks = 6;
  input.options.budget_s = 1e6;
  input.options.min_window_s = 0.5;
  return input;
}

const TrialRow& Row(const Report& report, const std::string& treatment) {
  for (const TrialRow& row : report.trials) {
    if (row.treatment == treatment && row.context == "with-others") return row;
  }
  static const TrialRow none;
  ADD_FAILURE() << "no row of " << treatment;
  return none;
}

// A machine that launches a block's programs side by side.
struct SideBySide {
  explicit SideBySide(ScriptedProgram& of) : program(of) {}

  ScriptedProgram& program;
  std::vector<std::vector<LaunchSpec>> groups;
  std::function<void(std::vector<LaunchResult>&)> change;  // of a group's results
  std::string refusal;

  Launcher Launches() {
    return {std::ref(program), [this](std::span<const LaunchSpec> specs) -> Result<std::vector<LaunchResult>> {
              groups.emplace_back(specs.begin(), specs.end());
              if (!refusal.empty()) return Error{refusal, "", ""};
              std::vector<LaunchResult> results;
              for (const LaunchSpec& spec : specs) results.push_back(program(spec));
              if (change) change(results);
              return results;
            }};
  }
};

TEST(SideBySideBlocks, HoldEveryArmOfTheBlockAndGiveItTurns) {
  ScriptedProgram program = TypicalProgram();
  SideBySide machine(program);
  Report report;
  ASSERT_TRUE(RunExperiment(SixBlocks(), machine.Launches(), {}, report).ok());
  ASSERT_EQ(machine.groups.size(), 15u) << "two pilots, two launches that compare losses, two pilots, six blocks, and "
                                           "six fresh ones";
  for (const auto& group : std::span(machine.groups).first(3)) {
    EXPECT_EQ(group.size(), 2u);
    for (const LaunchSpec& spec : group) EXPECT_EQ(spec.turn_steps, spec.steps) << spec.label << ": each has one turn";
  }
  EXPECT_EQ(machine.groups[1][0].mode, LaunchMode::kCheck);
  for (const auto& group : std::span(machine.groups).subspan(3)) {
    for (const LaunchSpec& spec : group) {
      EXPECT_EQ(spec.steps, group.front().steps);
      // 40 ms of the fastest arm: 100 ms / (4 x 1.5), noise apart.
      EXPECT_NEAR(spec.turn_steps, 3, 1);
    }
  }
  EXPECT_EQ(Row(report, "debug").verdict, TrialVerdict::kFaster);
  EXPECT_EQ(report.combined->n, 6);
  EXPECT_TRUE(report.quality.warnings.empty());
  EXPECT_THAT(report.plan, testing::Contains(HasSubstr("started together")));
}

LaunchResult Ended(LaunchStatus status) {
  LaunchResult result;
  result.status = std::move(status);
  return result;
}

TEST(SideBySideBlocks, ProgramsThatCannotAreLaunchedOneAfterAnother) {
  const std::vector<std::pair<std::function<void(std::vector<LaunchResult>&)>, std::string>> cases = {
      {nullptr, "the memory may not hold them all"},
      {[](auto& results) { results.back().status = {LaunchEnd::kTookNoTurns}; }, "without waiting"},
      {[](auto& results) {
         results.back() = Ended({LaunchEnd::kExit, "1"});
         results.back().tail = "Address already in use\n";
       },
       "Address"},
      {[](auto& results) { results.assign(results.size(), Ended({LaunchEnd::kTimeout})); }, "timeout"}};
  for (const auto& [change, why] : cases) {
    ScriptedProgram program = TypicalProgram();
    SideBySide machine(program);
    machine.change = change;
    if (!change) machine.refusal = why;
    Report report;
    ASSERT_TRUE(RunExperiment(SixBlocks(), machine.Launches(), {}, report).ok());
    EXPECT_EQ(machine.groups.size(), 1u) << why;
    EXPECT_EQ(Row(report, "debug").verdict, TrialVerdict::kFaster) << why;
    EXPECT_EQ(Row(report, "debug").n, 6) << why;
    EXPECT_THAT(report.quality.warnings, ElementsAre(AllOf(HasSubstr("one after another"), HasSubstr(why))));
  }
}

TEST(SideBySideBlocks, WhatFailsAloneTooLeavesWithItsTrials) {
  ScriptedProgram program = TypicalProgram();
  program.dies = [](const LaunchSpec& spec, int) {
    return spec.label.starts_with("block") && spec.label.find(", debug") != spec.label.npos;  // ALL without amp
  };
  SideBySide machine(program);
  Report report;
  ASSERT_TRUE(RunExperiment(SixBlocks(), machine.Launches(), {}, report).ok());
  EXPECT_EQ(Row(report, "amp").verdict, TrialVerdict::kFailed);
  EXPECT_EQ(Row(report, "debug").verdict, TrialVerdict::kFaster);
  EXPECT_EQ(machine.groups.size(), 15u) << "the others go on side by side";
  EXPECT_TRUE(report.quality.warnings.empty());
}

TEST(SideBySideBlocks, ValuesAreScreenedBesideEachOther) {
  ScriptedProgram program = TypicalProgram();
  program.treatments["loader.workers"].values = {{"1", 0.9}, {"2", 0.7}, {"4", 0.8}};
  ExperimentInput input = SixBlocks();
  input.options.check_training = false;
  input.candidates.push_back({FindTreatment("loader.workers"), {"4", "2", "1"}, {"input-starvation"}, 20});
  SideBySide machine(program);
  Report report;
  ASSERT_TRUE(RunExperiment(input, machine.Launches(), {}, report).ok());
  std::vector<std::string> labels;
  for (const LaunchSpec& spec : machine.groups.front()) labels.push_back(spec.label);
  EXPECT_THAT(labels, ElementsAre("pilot, ALL, loader.workers=2", "pilot, ALL, loader.workers=1"));
  EXPECT_EQ(Row(report, "loader.workers").value, "2");
}

TEST(SideBySideBlocks, WhatCompilesOrWaitsForTheEpochsLengthIsNotLaunchedBesideTheBaseline) {
  for (const std::string& id : {"compile", "loader.workers"}) {
    ScriptedProgram program = TypicalProgram();
    ExperimentInput input = SixBlocks();
    input.options.check_training = false;
    input.candidates.push_back({FindTreatment(id), {id == "compile" ? "on" : "2"}, {"a-rule"}, 20});
    SideBySide machine(program);
    Report report;
    ASSERT_TRUE(RunExperiment(input, machine.Launches(), {}, report).ok());
    EXPECT_NE(machine.groups.front().front().label, "pilot, baseline") << id;
    EXPECT_EQ(program.log.front().label, "pilot, baseline");
    EXPECT_EQ(program.log.front().turn_steps, 0) << id;
  }
}

TEST(SideBySideBlocks, AnInterruptedBlockDoesNotCount) {
  ScriptedProgram program = TypicalProgram();
  SideBySide machine(program);
  Report report;
  ExperimentEvents events;
  events.stop = [&] { return machine.groups.size() == 8; };
  ASSERT_TRUE(RunExperiment(SixBlocks(), machine.Launches(), events, report).ok());
  EXPECT_EQ(Row(report, "debug").n, 4);
}

}  // namespace
}  // namespace loopscope
