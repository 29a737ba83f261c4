// Launches of all fixes together: the failing fix is found within the budget, and mutually exclusive fixes are tried in
// each other's place.
#include "profiler/experiments/prove/together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "profiler/experiments/prove/experiment.h"
#include "profiler/treatments/treatments.h"
#include "tests/support/scripted_launcher.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ExperimentInput InputOf(const std::vector<std::string>& settings, double budget_s) {
  ExperimentInput input;
  input.command = {"train"};
  for (const std::string& one : settings) {
    const std::size_t equals = one.find('=');
    input.candidates.push_back({FindTreatment(one.substr(0, equals)), {one.substr(equals + 1)}, {"a-rule"}, 5});
  }
  input.options.until_decided = true;
  input.options.budget_s = budget_s;
  input.options.min_window_s = 0.5;
  return input;
}

struct Proof {
  Report report;
  std::vector<std::string> shown;
  std::vector<std::string> launched;  // labels

  const TrialRow& Row(const std::string& treatment) const {
    const auto found = std::ranges::find(report.trials, treatment, &TrialRow::treatment);
    if (found != report.trials.end()) return *found;
    static const TrialRow none;
    ADD_FAILURE() << "no row of " << treatment;
    return none;
  }
  auto Labelled(const std::string& part) const {
    return std::ranges::count_if(launched, [&](const std::string& label) { return label.find(part) != label.npos; });
  }
};

Proof ProofOf(const ExperimentInput& input, ScriptedProgram& program) {
  Proof proof;
  const ExperimentEvents events{.plan = [&](const std::vector<std::string>& lines) {
    proof.shown.insert(proof.shown.end(), lines.begin(), lines.end());
  }};
  EXPECT_TRUE(RunExperiment(input, std::ref(program), events, proof.report).ok());
  for (const LaunchSpec& spec : program.log) proof.launched.push_back(spec.label);
  return proof;
}

// Searches among 0 … size-1, of which `bad` fail, alone or together with any.
std::pair<Culprits, int> Found(int size, const std::set<int>& bad, std::size_t first = 0, int allowed = 1000) {
  int launches = 0;
  CulpritSearch search{.first = first,
                       .works =
                           [&](const std::vector<int>& some) {
                             ++launches;
                             return std::ranges::none_of(some, [&](int one) { return bad.contains(one); });
                           },
                       .may_go_on = [&] { return launches < allowed; }};
  for (int i = 0; i < size; ++i) search.members.push_back(i);
  const Culprits found = FindCulprits(search);
  return {found, launches};
}

TEST(FindCulprits, EachOneIsFoundInFewLaunches) {
  for (int size = 1; size <= 17; ++size) {
    for (int bad = 0; bad < size; ++bad) {
      for (std::size_t first = 0; first < static_cast<std::size_t>(size); first += 3) {
        const auto [found, launches] = Found(size, {bad}, first);
        EXPECT_THAT(found.suspects, ElementsAre(bad)) << size;
        EXPECT_EQ(found.only_whole, bad == size - 1) << "what was not tried by itself is not known";
        EXPECT_LE(launches, first == 0 ? 5 : 6) << size << " " << bad << " " << first;
      }
    }
  }
}

TEST(FindCulprits, ThoseThatAreTriedFirstCostOneLaunch) {
  const auto [found, launches] = Found(8, {7}, 7);
  EXPECT_THAT(found.suspects, ElementsAre(7));
  EXPECT_EQ(launches, 1);
}

TEST(FindCulprits, AnEarlyEndLeavesAllThatMayBeToBlame) {
  EXPECT_THAT(Found(8, {5}, 0, 1).first.suspects, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Found(4, {1}, 0, 0).first.suspects, ElementsAre(0, 1, 2, 3));
}

TEST(Together, WhatCompilesIsSuspectedFirst) {
  ScriptedProgram program(21);
  program.treatments["debug"] = {.factor = 0.5};
  program.treatments["compile"] = {.fails = true, .starts_in_s = 30};
  const Proof proof = ProofOf(InputOf({"compile=on", "debug=off", "loss.detach=on", "eval.no_grad=on"}, 4000), program);
  EXPECT_EQ(proof.Row("compile").verdict, TrialVerdict::kFailed);
  EXPECT_EQ(proof.Row("compile").reason, "exit 1: it went wrong");
  EXPECT_EQ(proof.Row("debug").verdict, TrialVerdict::kFaster);
  EXPECT_EQ(proof.Labelled("bisecting"), 1);
}

TEST(Together, AFailureIsShownAndItsLikeIsNotRepeated) {
  ScriptedProgram program(22);
  program.treatments["amp"] = {.fails = true};
  const Proof proof = ProofOf(InputOf({"debug=off", "amp=bf16", "loss.detach=on", "eval.no_grad=on"}, 4000), program);
  EXPECT_EQ(proof.Labelled(", again"), 1);
  EXPECT_THAT(proof.shown, testing::Contains("pilot, ALL failed: exit 1: it went wrong"));
  EXPECT_EQ(proof.Row("amp").verdict, TrialVerdict::kFailed);
}

// A budget of a minute, which one launch that compiles takes half of.
TEST(Together, TheSearchStaysWithinTheBudget) {
  ScriptedProgram program(23);
  program.treatments["debug"] = {.factor = 0.5};
  program.treatments["compile"] = {.fails = true, .starts_in_s = 60};
  const double budget_s = 130;
  const Proof proof =
      ProofOf(InputOf({"debug=off", "compile=on", "loss.detach=on", "eval.no_grad=on"}, budget_s), program);
  EXPECT_EQ(proof.Row("compile").verdict, TrialVerdict::kDropped);
  EXPECT_THAT(proof.Row("compile").reason, HasSubstr("the budget left no time"));
  EXPECT_THAT(proof.Row("compile").reason, HasSubstr("it went wrong"));
}

TEST(Together, FixesThatCompileAreTriedInEachOthersPlace) {
  for (const bool graphs_win : {false, true}) {
    ScriptedProgram program(24);
    program.treatments["debug"] = {.factor = 0.9};
    program.treatments["compile"] = {.factor = 0.7};
    program.treatments["cuda_graphs"] = {.factor = graphs_win ? 0.4 : 0.95};
    program.conflicts = {{"compile", "cuda_graphs"}};
    const Proof proof = ProofOf(InputOf({"cuda_graphs=on", "compile=on", "debug=off"}, 4000), program);
    const char *kept = graphs_win ? "cuda_graphs" : "compile", *lost = graphs_win ? "compile" : "cuda_graphs";
    EXPECT_EQ(proof.Row(kept).verdict, TrialVerdict::kFaster);
    EXPECT_EQ(proof.Row(lost).verdict, TrialVerdict::kDropped);
    EXPECT_THAT(proof.Row(lost).reason, HasSubstr("a model is compiled once, and with " + std::string(kept)));
    EXPECT_EQ(proof.Labelled("bisecting"), 0);
  }
}

TEST(Together, WhereOneThatCompilesFailsTheOtherIsTried) {
  ScriptedProgram program(25);
  program.treatments["debug"] = {.factor = 0.9};
  program.treatments["compile"] = {.fails = true};
  program.treatments["cuda_graphs"] = {.factor = 0.5};
  const Proof proof = ProofOf(InputOf({"cuda_graphs=on", "compile=on", "debug=off"}, 4000), program);
  EXPECT_EQ(proof.Row("compile").verdict, TrialVerdict::kFailed);
  EXPECT_EQ(proof.Row("cuda_graphs").verdict, TrialVerdict::kFaster);
  program.treatments["compile"] = {.factor = 0.5};
  program.treatments["cuda_graphs"] = {.fails = true};
  program.log.clear();
  const Proof other = ProofOf(InputOf({"cuda_graphs=on", "compile=on", "debug=off"}, 4000), program);
  EXPECT_EQ(other.Row("cuda_graphs").verdict, TrialVerdict::kFailed);
  EXPECT_EQ(other.Row("compile").verdict, TrialVerdict::kFaster);
}

TEST(Together, ARivalThatThereIsNoTimeForIsNamed) {
  ScriptedProgram program(26);
  program.treatments["debug"] = {.factor = 0.5};
  program.treatments["compile"] = {.factor = 0.9, .starts_in_s = 20};
  program.treatments["cuda_graphs"] = {.factor = 0.5, .starts_in_s = 20};
  // Which of them runs with the others does not depend on the order of their names.
  for (const std::vector<std::string>& order : {std::vector<std::string>{"cuda_graphs=on", "compile=on", "debug=off"},
                                                {"debug=off", "compile=on", "cuda_graphs=on"}}) {
    const Proof proof = ProofOf(InputOf(order, 150), program);
    EXPECT_EQ(proof.Row("cuda_graphs").verdict, TrialVerdict::kDropped);
    EXPECT_THAT(proof.Row("cuda_graphs").reason, HasSubstr("no time to try it in place of compile=on"));
  }
}

}  // namespace
}  // namespace loopscope
