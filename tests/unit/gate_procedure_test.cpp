#include "profiler/commands/gate_procedure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/scripted_launcher.h"

namespace loopscope {
namespace {

using testing::HasSubstr;

PairsInput Input(double budget_s = 1e6) {
  PairsInput input;
  input.command_a = {"base"};
  input.command_b = {"candidate"};
  input.options.budget_s = budget_s;
  input.options.min_window_s = 0.5;
  return input;
}

struct Gated {
  Report report;
  Result<GateDecision> decision;
};

Gated RunIt(ScriptedProgram& program, const PairsInput& input, const GateLimits& limits = {}) {
  Gated gated{.report = {}, .decision = GateDecision{}};
  gated.decision = RunGate(input, limits, std::ref(program), {}, gated.report);
  return gated;
}

int Labelled(const ScriptedProgram& program, std::string_view text) {
  return static_cast<int>(
      std::ranges::count_if(program.log, [&](const LaunchSpec& spec) { return spec.label.starts_with(text); }));
}

TEST(GateProcedure, AnUnchangedProgramPassesAfterOneStage) {
  ScriptedProgram program(1);
  program.noise = 0.01;
  const Gated gated = RunIt(program, Input());
  ASSERT_TRUE(gated.decision);
  EXPECT_EQ(gated.decision->verdict, GateVerdict::kPass);
  EXPECT_EQ(gated.decision->pairs, 12);
  EXPECT_EQ(Labelled(program, "pair"), 24);
  EXPECT_EQ(Labelled(program, "fresh pair"), 0);
  EXPECT_TRUE(gated.report.noise.pair_sd_pct);
}

TEST(GateProcedure, ASlowdownFailsOnFreshPairs) {
  ScriptedProgram program(2);
  program.noise = 0.02;
  program.other_side_factor = 1.08;
  const Gated gated = RunIt(program, Input());
  ASSERT_TRUE(gated.decision);
  EXPECT_EQ(gated.decision->verdict, GateVerdict::kFail);
  EXPECT_EQ(gated.decision->pairs, 32);
  EXPECT_EQ(Labelled(program, "fresh pair"), 40);
  EXPECT_NEAR(gated.decision->slowdown, 0.08, 0.03);
}

TEST(GateProcedure, TheOrderWithinPairsIsRandom) {
  ScriptedProgram program(3);
  RunIt(program, Input());
  int a_first = 0, pairs = 0;
  std::vector<int> sides;
  for (const LaunchSpec& spec : program.log) {
    if (spec.label.starts_with("pair")) sides.push_back(spec.side);
  }
  for (std::size_t at = 0; at + 1 < sides.size(); at += 2, ++pairs) {
    EXPECT_NE(sides[at], sides[at + 1]);
    a_first += sides[at] == 0;
  }
  EXPECT_GT(a_first, 1);
  EXPECT_LT(a_first, pairs - 1);
}

TEST(GateProcedure, ABudgetTooSmallIsNeverAPass) {
  ScriptedProgram program(4);
  program.noise = 0.001;
  const Gated gated = RunIt(program, Input(40));
  ASSERT_TRUE(gated.decision);
  EXPECT_EQ(gated.decision->verdict, GateVerdict::kInconclusive);
  EXPECT_LT(gated.decision->pairs, 5);
  EXPECT_THAT(gated.decision->reason, HasSubstr("fewer than 5 decide nothing"));
}

TEST(GateProcedure, ACandidateThatFailsIsTheCommandsFailure) {
  ScriptedProgram program(5);
  program.dies = [](const LaunchSpec& spec, int) { return spec.side == 1; };
  const Gated gated = RunIt(program, Input());
  ASSERT_FALSE(gated.decision);
  EXPECT_EQ(gated.decision.error().exit_code, 4);
  EXPECT_THAT(gated.decision.error().Message(), HasSubstr("candidate"));
}

TEST(GateProcedure, ACandidateThatDiesInMidGateDecidesNothing) {
  ScriptedProgram program(6);
  program.dies = [](const LaunchSpec& spec, int launch) { return spec.side == 1 && launch > 8; };
  const Gated gated = RunIt(program, Input());
  ASSERT_TRUE(gated.decision);
  EXPECT_EQ(gated.decision->verdict, GateVerdict::kInconclusive);
}

}  // namespace
}  // namespace loopscope
