// A collective's group, kind and phase, and how long a host only waits for it.
#include "profiler/core/timeline/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/timeline/timeline.h"
#include "tests/support/case_reader.h"

namespace loopscope {
namespace {

using testing::SizeIs;

std::vector<CollectiveTimes> CollectivesIn(const std::string& steps) {
  auto cases = test::ParseCases("case inline\n" + steps + "  expect clear\n", "inline");
  if (!cases) throw std::runtime_error(cases.error().Message());
  return CollectivesOf(Timeline::Build(std::move(cases->at(0).trace)));
}

double PerStepMs(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6 / 10;
}

// The host waits between its operators, and in no part of the step that computes.
TEST(Collectives, BeforeABackwardPassTheyBelongToTheForwardPass) {
  const auto all = CollectivesIn(R"(  step x10
    op aten::linear 2ms graph
    gap 3ms
    op aten::linear 2ms graph
    range backward 4ms
    gap 2ms
    range optimizer 1ms value=10
    thread gloo
      gap 2ms
      range user 3ms name=gloo:_allgather_base
      gap 6ms
      range user 2ms name=gloo:all_reduce
)");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].operation, "allgather");
  EXPECT_EQ(all[0].phase, Part::kForward);
  EXPECT_NEAR(PerStepMs(all[0].exposed_ns), 3, 0.01);
  EXPECT_EQ(all[1].operation, "allreduce");
  EXPECT_EQ(all[1].phase, std::nullopt) << "after the backward pass, before the optimizer";
}

// The engine's range around a node, and a node written in Python, hold hooks that wait; torch's own nodes compute.
TEST(Collectives, WaitingInAHookIsNotWork) {
  const auto exposed_ms = [](const std::string& node) {
    const auto all = CollectivesIn("  step x10\n    op aten::linear 2ms graph\n    range backward 10ms\n      " + node +
                                   " 10ms\n        op aten::mm 4ms\n    range optimizer 1ms value=10\n    thread gloo\n"
                                   "      gap 3ms\n      range user 8ms name=gloo:all_reduce\n");
    return all.size() == 1 ? PerStepMs(all[0].exposed_ns) : -1;
  };
  // From 3 to 11 ms, of which aten::mm covers up to 6 ms.
  EXPECT_NEAR(exposed_ms("bwd MmBackward0"), 5, 0.01);
  EXPECT_NEAR(exposed_ms("op RegisterPostBackwardFunctionBackward"), 5, 0.01);
  EXPECT_NEAR(exposed_ms("op MmBackward0"), 0, 0.01);
  EXPECT_NEAR(exposed_ms("op CompiledFunctionBackward"), 0, 0.01);
}

TEST(Collectives, APluginsCommunicatorsAreGroups) {
  const auto all = CollectivesIn(R"(  step x10
    op aten::linear 2ms graph
    range backward 10ms
    range optimizer 1ms value=10
    thread nccl
      gap 2ms
      range communication 4ms name="nccl world:all_reduce"
      range communication 1ms name="nccl 0x7:all_reduce"
      range user 1ms name=nccl:all_reduce
)");
  ASSERT_THAT(all, SizeIs(2)) << "torch's own range of that name only enqueues";
  EXPECT_EQ(all[0].group, "nccl world");
  EXPECT_EQ(all[0].operation, "allreduce");
  EXPECT_EQ(all[0].phase, Part::kBackward);
  EXPECT_EQ(all[1].group, "nccl 0x7");
}

}  // namespace
}  // namespace loopscope
