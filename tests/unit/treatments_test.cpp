#include "profiler/treatments/treatments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "profiler/diagnosis/diagnosis.h"
#include "profiler/experiments/candidates.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Host TwoCores(std::vector<std::string> features = {}) {
  return {.cpu = "cpu", .cores = 2, .features = features, .gpus = {}};
}

Finding Found(const std::string& rule, double cost_ms, const std::string& value = "") {
  Finding finding;
  finding.rule = rule;
  finding.cost_ms_per_step = cost_ms;
  finding.treatment = value;
  return finding;
}

std::vector<std::string> Settings(const std::vector<Candidate>& candidates) {
  std::vector<std::string> settings;
  for (const Candidate& candidate : candidates) settings.push_back(candidate.Setting());
  return settings;
}

TEST(Treatments, RowsAreWhole) {
  std::set<std::string_view> ids;
  for (const Treatment* one : AllTreatments()) {
    EXPECT_TRUE(ids.insert(one->id).second) << one->id;
    EXPECT_FALSE(one->summary.empty()) << one->id;
    EXPECT_EQ(one->condition.empty(), one->exactness != Exactness::kExactIf) << one->id;
    EXPECT_FALSE(ExactnessName(one->exactness).empty());
    for (const std::string& value : one->ValuesFor(Finding{}, TwoCores())) {
      EXPECT_EQ(value.find_first_of("=; "), value.npos) << one->id;  // they travel in LOOPSCOPE_TREATMENT
    }
    EXPECT_EQ(FindTreatment(one->id), one);
    for (const std::string_view rule : one->cures) {
      EXPECT_EQ(TreatmentFor(rule), rule == "launch-bound" ? FindTreatment("cuda_graphs") : one) << rule;
    }
  }
  EXPECT_EQ(FindTreatment("nothing"), nullptr);
  EXPECT_EQ(TreatmentFor("nothing"), nullptr);
}

TEST(Treatments, ASwitchIsOnOrOff) {
  const Host with_gpus{.cpu = "", .cores = 4, .features = {"avx512_bf16"}, .gpus = {"A100", "A100"}};
  for (const Treatment* one : AllTreatments()) {
    const std::vector<std::string> values = one->ValuesFor(Finding{}, with_gpus);
    const bool on_or_off =
        std::ranges::all_of(values, [](const auto& value) { return value == "on" || value == "off"; });
    if (!values.empty()) {
      EXPECT_EQ(one->is_switch, on_or_off) << one->id;
    }
  }
}

TEST(Treatments, TheEnvironmentIsSetByWhatSaysSo) {
  for (const Treatment* one : AllTreatments()) {
    EXPECT_EQ(std::ranges::find(one->appliers, "environment") != one->appliers.end(), !one->environment.empty())
        << one->id;
  }
}

TEST(Treatments, ValuesDependOnTheMachine) {
  const auto values = [](std::string_view id, const Host& host) {
    return FindTreatment(id)->ValuesFor(Finding{}, host);
  };
  EXPECT_THAT(values("loader.workers", TwoCores()), ElementsAre("2", "1"));
  EXPECT_THAT(values("loader.workers", {.cpu = "", .cores = 8, .features = {}, .gpus = {}}),
              ElementsAre("8", "4", "2", "1"));
  EXPECT_THAT(values("loader.workers", {}), ElementsAre("1"));
  EXPECT_THAT(values("amp", TwoCores()), ElementsAre());
  EXPECT_THAT(values("amp", TwoCores({"avx512_bf16"})), ElementsAre("bf16"));
  EXPECT_THAT(values("sync.defer", TwoCores()), ElementsAre());
}

TEST(TreatmentOf, HasAValueOnTheMachineOfTheCapture) {
  RunInfo run;
  run.cores = 2;
  EXPECT_EQ(TreatmentOf(Found("fp32-compute", 1), run), "");
  EXPECT_EQ(TreatmentOf(Found("launch-bound", 1), run), "compile") << "CUDA graphs need a GPU";
  EXPECT_EQ(TreatmentOf(Found("debug-left-on", 1), run), "debug");
  EXPECT_EQ(TreatmentOf(Found("no-such-rule", 1), run), "");
  run.cpu_features = {"avx512_bf16"};
  EXPECT_EQ(TreatmentOf(Found("fp32-compute", 1), run), "amp");
  run.gpus = {"a GPU"};
  EXPECT_EQ(TreatmentOf(Found("launch-bound", 1), run), "cuda_graphs");
}

TEST(TreatmentOf, AnUnknownMachineRulesNothingOut) {
  RunInfo run;
  EXPECT_EQ(TreatmentOf(Found("fp32-compute", 1), run), "amp") << "a capture without its run.json";
  run.cores = 2;
  run.source = "kineto";
  EXPECT_EQ(TreatmentOf(Found("fp32-compute", 1), run), "amp");
}

TEST(TreatmentOf, KeepsWhatTheAnalyzerChose) {
  RunInfo run;
  run.cores = 2;
  Finding finding = Found("too-many-workers", 1);
  finding.treatment_id = "loader.persistent";
  EXPECT_EQ(TreatmentOf(finding, run), "loader.persistent");
}

TEST(TreatmentOf, SomethingInTheProgramAppliesIt) {
  RunInfo run;
  run.cores = 2;
  const Finding finding = Found("too-many-workers", 1, "1");
  const auto in = [&](const FactMap& facts, const Knobs& knobs) { return TreatmentOf(finding, run, facts, knobs); };
  EXPECT_EQ(in({}, {}), "loader.workers") << "nothing is known of the program";
  EXPECT_EQ(in({{"program.language", "python"}}, {}), "loader.workers");
  EXPECT_EQ(in({{"program.language", "c++"}}, {"loader.prefetch"}), "");
  EXPECT_EQ(in({{"program.language", "c++"}}, {"loader.prefetch", "loader.workers"}), "loader.workers");
}

TEST(Candidates, ComeFromFindingsCostliestFirst) {
  const std::vector<Finding> findings{Found("grads-zeroed", 2), Found("debug-left-on", 80),
                                      Found("fp32-compute", 9), Found("host-sync", 1),
                                      Found("no-such-rule", 5), Found("input-starvation", 5, "1")};
  const auto candidates = CandidatesOf(findings, TwoCores(), {});
  ASSERT_TRUE(candidates.ok());
  // This machine has no 16-bit units, and nothing to defer.
  EXPECT_THAT(Settings(*candidates), ElementsAre("debug=off", "loader.workers=1", "grad.set_to_none=on"));
  EXPECT_THAT((*candidates)[1].values, ElementsAre("1", "2"));
  EXPECT_THAT((*candidates)[0].rules, ElementsAre("debug-left-on"));
}

TEST(Candidates, TwoFindingsOfOneRuleGiveOneCandidate) {
  const auto candidates =
      CandidatesOf(std::vector{Found("debug-left-on", 1), Found("debug-left-on", 2)}, TwoCores(), {});
  ASSERT_EQ(candidates->size(), 1u);
  EXPECT_EQ((*candidates)[0].cost_ms, 3);
  EXPECT_THAT((*candidates)[0].rules, ElementsAre("debug-left-on"));
}

TEST(Candidates, EveryTreatmentOfARuleIsOne) {
  const Host host{.cpu = "", .cores = 8, .features = {}, .gpus = {"a GPU"}};
  const auto both = CandidatesOf(std::vector{Found("launch-bound", 3)}, host, {});
  EXPECT_THAT(Settings(*both), ElementsAre("cuda_graphs=on", "compile=on"));
  EXPECT_EQ((*both)[1].cost_ms, 3);
  EXPECT_THAT((*both)[1].rules, ElementsAre("launch-bound"));
  EXPECT_THAT(FindTreatment("cuda_graphs")->ValuesFor({}, TwoCores()), ElementsAre());
}

TEST(Candidates, OnlyNamesExactlyWhatIsTried) {
  const std::vector<Finding> findings{Found("debug-left-on", 80), Found("grads-zeroed", 2)};
  const auto named =
      CandidatesOf(findings, TwoCores(), {.only = {"debug", "cudnn.benchmark=on", "optimizer.impl"}, .skip = {}});
  ASSERT_TRUE(named.ok());
  EXPECT_THAT(Settings(*named), ElementsAre("debug=off", "cudnn.benchmark=on", "optimizer.impl=fused"));
  EXPECT_THAT((*named)[1].rules, ElementsAre());
  const auto skipped = CandidatesOf(findings, TwoCores(), {.only = {}, .skip = {"debug"}});
  EXPECT_THAT(Settings(*skipped), ElementsAre("grad.set_to_none=on"));
}

TEST(Candidates, MistakesAreNamed) {
  const auto unknown = CandidatesOf({}, TwoCores(), {.only = {"loader.wokers=2"}, .skip = {}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().exit_code, 2);
  EXPECT_THAT(unknown.error().Message(), HasSubstr("loader.wokers: there is no such treatment"));
  EXPECT_THAT(unknown.error().Message(), HasSubstr("loader.workers"));
  EXPECT_FALSE(CandidatesOf({}, TwoCores(), {.only = {}, .skip = {"nothing"}}).ok());
  EXPECT_THAT(CandidatesOf({}, TwoCores(), {.only = {"tf32"}, .skip = {}}).error().Message(),
              HasSubstr("--only tf32=VALUE"));
  EXPECT_THAT(CandidatesOf({}, TwoCores(), {.only = {"debug", "debug=off"}, .skip = {}}).error().Message(),
              HasSubstr("named twice"));
}

}  // namespace
}  // namespace loopscope
