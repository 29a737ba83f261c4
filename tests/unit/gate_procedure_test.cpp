#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "profiler/experiments/gate/procedure.h"
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
  Result<GatedPairs> pairs;

  const GateDecision& decision() const { return pairs->decision; }
};

Gated RunIt(ScriptedProgram& program, const PairsInput& input, const GateLimits& limits = {}) {
  Gated gated{.report = {}, .pairs = GatedPairs{}};
  gated.pairs = RunGate(input, limits, std::ref(program), {}, gated.report);
  return gated;
}

int Labelled(const ScriptedProgram& program, std::string_view text) {
  return static_cast<int>(
      std::ranges::count_if(program.log, [&](const LaunchSpec& spec) { return spec.label.starts_with(text); }));
}

TEST(GateProcedure, AnUnchangedProgramPassesAfterAFewPairs) {
  ScriptedProgram program(1);
  program.noise = 0.01;
  const Gated gated = RunIt(program, Input());
  ASSERT_TRUE(gated.pairs);
  EXPECT_EQ(gated.decision().verdict, GateVerdict::kPass);
  EXPECT_GE(gated.decision().pairs, 5);
  EXPECT_LE(gated.decision().pairs, 9);
  EXPECT_EQ(Labelled(program, "pair"), 2 * gated.decision().pairs) << "none after the one that decides";
  EXPECT_TRUE(gated.report.noise.pair_sd_pct);
}

TEST(GateProcedure, ASlowdownFailsOnceItIsSure) {
  ScriptedProgram program(2);
  program.noise = 0.02;
  program.other_side_factor = 1.08;
  const Gated gated = RunIt(program, Input());
  ASSERT_TRUE(gated.pairs);
  EXPECT_EQ(gated.decision().verdict, GateVerdict::kFail);
  EXPECT_LE(gated.decision().pairs, 16);
  EXPECT_EQ(Labelled(program, "pair"), 2 * gated.decision().pairs);
  EXPECT_GT(gated.decision().detectable, 0.01);
  EXPECT_NEAR(gated.decision().slowdown, 0.08, 0.03);
}

TEST(GateProcedure, TheOrderWithinPairsIsRandom) {
  ScriptedProgram program(3);
  program.noise = 0.2;  // which takes many pairs
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

TEST(GateProcedure, TheBudgetIsKept) {
  for (const double budget : {40.0, 120.0, 400.0}) {
    ScriptedProgram program(17);
    program.other_side_factor = 1.05;
    program.noise = 0.1;
    double spent = 0;
    const Launcher counted = [&](const LaunchSpec& spec) {
      LaunchResult result = program(spec);
      spent += result.wall_s;
      return result;
    };
    Report report;
    const auto gated = RunGate(Input(budget), {}, counted, {}, report);
    EXPECT_TRUE(gated);
    EXPECT_LE(spent, 1.1 * budget);
  }
}

TEST(GateProcedure, ABudgetTooSmallIsNeverAPass) {
  ScriptedProgram program(4);
  program.noise = 0.001;
  const Gated gated = RunIt(program, Input(40));
  ASSERT_TRUE(gated.pairs);
  EXPECT_EQ(gated.decision().verdict, GateVerdict::kInconclusive);
  EXPECT_LT(gated.decision().pairs, 5);
  EXPECT_THAT(gated.decision().reason, HasSubstr("fewer than 5 decide nothing"));
}

TEST(GateProcedure, ACandidateThatFailsIsTheCommandsFailure) {
  ScriptedProgram program(5);
  program.dies = [](const LaunchSpec& spec, int) { return spec.side == 1; };
  const Gated gated = RunIt(program, Input());
  ASSERT_FALSE(gated.pairs);
  EXPECT_EQ(gated.pairs.error().exit_code, 4);
  EXPECT_THAT(gated.pairs.error().Message(), HasSubstr("candidate"));
}

TEST(GateProcedure, EveryLaunchOfThePairsIsKept) {
  ScriptedProgram program(7);
  program.other_side_factor = 1.3;
  const Gated gated = RunIt(program, Input());
  ASSERT_TRUE(gated.pairs);
  const int pairs = gated.decision().pairs;
  ASSERT_EQ(gated.pairs->launches.size(), 2u * pairs);
  EXPECT_EQ(gated.pairs->launches.back().block, pairs - 1);
  EXPECT_EQ(std::ranges::count(gated.pairs->launches, "A", &LaunchRow::arm), pairs);
}

// A gate of an unchanged program whose launches on each side drift by so much within their windows, give or take 4 %.
GateDecision DriftingBy(std::array<double, 2> drift, const GateLimits& limits = {}) {
  ScriptedProgram program(8);
  program.noise = 0.01;
  const auto drifting = [&](const LaunchSpec& spec) {
    LaunchResult result = program(spec);
    result.step_drift = drift[spec.side] + 0.01 * static_cast<double>(program.log.size() % 5);
    return result;
  };
  Report report;
  const auto pairs = RunGate(Input(), limits, drifting, {}, report);
  EXPECT_TRUE(pairs);
  return pairs ? pairs->decision : GateDecision();
}

TEST(GateProcedure, ASideThatNeverSettlesIsNoPass) {
  for (const int side : {0, 1}) {
    const GateDecision decision = DriftingBy({side == 0 ? 0.2 : 0.0, side == 1 ? 0.2 : 0.0});
    EXPECT_EQ(decision.verdict, GateVerdict::kInconclusive);
    EXPECT_THAT(decision.reason, HasSubstr(side ? "B never reaches steady state" : "A never reaches steady state"));
    EXPECT_THAT(decision.reason, HasSubstr("longer from the first third"));
    EXPECT_LE(decision.pairs, 12) << "once it is sure, no more are launched";
  }
}

// A drift of 10 % in all pairs but the eighth, which has less of it the other way: p = 4/2^9 after nine.
TEST(GateProcedure, ADriftThatMayBeChanceTakesNoPassBack) {
  ScriptedProgram program(8);
  program.noise = 0.01;
  int launched = 0;
  const auto drifting = [&](const LaunchSpec& spec) {
    LaunchResult result = program(spec);
    if (spec.side == 1 && spec.label.starts_with("pair")) result.step_drift = ++launched == 8 ? -0.06 : 0.1;
    return result;
  };
  Report report;
  const auto pairs = RunGate(Input(), {}, drifting, {}, report);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->decision.verdict, GateVerdict::kPass) << pairs->decision.reason;
  EXPECT_EQ(pairs->decision.pairs, 9) << "fewer leave the drift possible";
}

TEST(GateProcedure, SidesThatSettleAlikePass) {
  EXPECT_EQ(DriftingBy({-0.15, -0.15}).verdict, GateVerdict::kPass);
  EXPECT_EQ(DriftingBy({0.1, 0.1}).verdict, GateVerdict::kPass);
  GateLimits wide;
  wide.max_slowdown = 0.9;
  EXPECT_EQ(DriftingBy({0.4, 0.4}, wide).verdict, GateVerdict::kPass) << "a quarter is less than this gate's limit";
}

TEST(GateProcedure, SidesThatAreFarFromSettledAreNoPass) {
  const GateDecision decision = DriftingBy({-0.7, -0.7});
  EXPECT_EQ(decision.verdict, GateVerdict::kInconclusive);
  EXPECT_THAT(decision.reason, HasSubstr("the program never reaches steady state"));
  EXPECT_THAT(decision.reason, HasSubstr("shorter from the first third"));
}

TEST(GateProcedure, OtherWorkPerStepIsNotCompared) {
  ScriptedProgram program(9);
  program.other_side_clock = "mark";
  const Gated gated = RunIt(program, Input());
  ASSERT_FALSE(gated.pairs);
  EXPECT_EQ(gated.pairs.error().exit_code, 3);
  EXPECT_THAT(gated.pairs.error().Message(), HasSubstr("does other work per step"));
}

TEST(GateProcedure, ACandidateThatDiesInMidGateDecidesNothing) {
  ScriptedProgram program(6);
  program.dies = [](const LaunchSpec& spec, int launch) { return spec.side == 1 && launch > 8; };
  const Gated gated = RunIt(program, Input());
  ASSERT_TRUE(gated.pairs);
  EXPECT_EQ(gated.decision().verdict, GateVerdict::kInconclusive);
}

}  // namespace
}  // namespace loopscope
