// The C entry points behind probes/loopscope.h, over a loop that only listens.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "probes/loopscope.h"
#include "probes/preload/attach.h"
#include "probes/preload/live.h"
#include "probes/preload/loop.h"
#include "probes/preload/program_facts.h"

namespace loopscope::loop {
namespace {

struct OptimizerStep {
  const void* optimizer;
  std::string name;
  std::uint64_t parameters;
};
std::vector<OptimizerStep> steps;
std::vector<std::pair<wire::RangeCategory, bool>> ranges;  // and whether they end after they begin

}  // namespace

const ProbeApi* Api() noexcept {
  return nullptr;
}
bool Active() noexcept {
  return true;
}
void MarkedStepEnd(std::uint64_t) noexcept {}
void Range(wire::RangeCategory category, std::string_view, std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t,
           bool) noexcept {
  ranges.push_back({category, begin_ns <= end_ns});
}
void Claim(std::string_view) noexcept {}
void OptimizerBegins() noexcept {}
void OptimizerEnds(const void* optimizer, std::string_view name, std::uint64_t parameters, std::uint64_t,
                   bool) noexcept {
  steps.push_back({optimizer, std::string(name), parameters});
}

namespace {

using OldBegin = void*(const char*, std::uint64_t);

class EntryPoints : public testing::Test {
 protected:
  EntryPoints() {
    steps.clear();
    ranges.clear();
  }
  static void Step(const char* name, std::uint64_t parameters, const void* optimizer) {
    OptimizerStepEnd(OptimizerStepBegin(name, parameters, optimizer));
  }
  static void OldStep(const char* name, std::uint64_t parameters) {
    OptimizerStepEnd(detail::Probe<OldBegin>("loopscope_v1_optimizer_begin")(name, parameters));
  }
};

TEST_F(EntryPoints, TwinOptimizersAreTwo) {
  const int one = 0, other = 0;
  for (int n = 0; n < 2; ++n) {
    Step("Adam", 100, &one);
    Step("Adam", 100, &other);
  }
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].optimizer, &one);
  EXPECT_EQ(steps[1].optimizer, &other);
  EXPECT_EQ(steps[2].optimizer, &one);
  EXPECT_EQ(steps[1].name, "Adam");
  EXPECT_EQ(steps[1].parameters, 100u);
}

TEST_F(EntryPoints, AKnobIsTurnedWhereTheLaunchSwitchesIt) {
  std::string turned;
  const auto turn = [](const char* value, void* context) {
    *static_cast<std::string*>(context) = value;
    return true;
  };
  EXPECT_TRUE(Switchable("clip.foreach", turn, &turned));
  EXPECT_EQ(turned, "on");
  EXPECT_FALSE(Switchable("debug", turn, &turned));
}

TEST_F(EntryPoints, AnEvaluationIsARange) {
  EvaluationEnd();  // none has begun
  EXPECT_TRUE(ranges.empty());
  EvaluationBegin();
  EvaluationEnd();
  loopscope::Evaluation(true);  // the older name
  loopscope::Evaluation(false);
  EvaluationEnd();
  const std::pair evaluation(wire::RangeCategory::kEvaluation, true);
  EXPECT_EQ(ranges, (std::vector{evaluation, evaluation}));
}

TEST_F(EntryPoints, WithoutAnAddressNameAndSizeTellThemApart) {
  Step("Adam", 100, nullptr);
  OldStep("Adam", 100);
  OldStep("Adam", 10);
  OldStep("SGD", 100);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_NE(steps[0].optimizer, nullptr);
  EXPECT_EQ(steps[0].optimizer, steps[1].optimizer);
  EXPECT_NE(steps[1].optimizer, steps[2].optimizer);
  EXPECT_NE(steps[1].optimizer, steps[3].optimizer);
}

}  // namespace
}  // namespace loopscope::loop

namespace loopscope::live {
bool Offer(std::string_view key, Turn turn, void* context) noexcept {
  return key == "clip.foreach" && turn("on", context);
}
}  // namespace loopscope::live
