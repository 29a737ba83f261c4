#include "profiler/core/report/headroom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"

namespace loopscope {
namespace {

using test::EventSpec;
using test::TraceBuilder;

constexpr std::int64_t kNsPerMs = 1'000'000;

EventSpec Op(std::string name, std::int64_t length_ns, std::string inputs, int line) {
  EventSpec op;
  op.name = std::move(name);
  op.length_ns = length_ns;
  op.inputs = std::move(inputs);
  op.where = Where{"/work/train.py", line, "step"};
  return op;
}

// Twenty steps of 20 ms: a product, an addition, an operator that nobody knows, and their passes back.
TraceBuilder Program(bool peaks) {
  TraceBuilder builder;
  const std::uint32_t thread = builder.Thread("main");
  for (int step = 0; step < 20; ++step) {
    EventSpec product = Op("aten::mm", 4 * kNsPerMs, "f32[100,1000]!;f32[1000,100]!", 10);
    product.node = "mm";
    product.flags = wire::kOpGraph | wire::kOpGradMode;
    std::int64_t now = builder.Add(thread, product, builder.now(), true);
    now = builder.Add(thread, Op("aten::add", 2 * kNsPerMs, "f32[1000,1000];f32[1000,1000];1", 20), now, true);
    now = builder.Add(thread, Op("mine::op", 1 * kNsPerMs, "f32[10]", 30), now, true);
    EventSpec node;
    node.name = "autograd::engine::evaluate_function: MmBackward0";
    node.of = "mm";
    node.sub = 1;
    node.inside.push_back(Op("aten::mm", 3 * kNsPerMs, "f32[1000,100];f32[100,100]", 0));
    node.inside.back().where.reset();
    EventSpec backward;
    backward.kind = EventSpec::Kind::kRange;
    backward.sub = static_cast<std::uint8_t>(RangeCategory::kBackward);
    backward.inside = {node};
    now = builder.Add(thread, backward, now, true);
    builder.Advance(20 * kNsPerMs);
    builder.Mark(MarkKind::kStepEnd, 32, "optimizer:SGD#1");
  }
  if (peaks) {
    // 10 GFLOP/s small, 20 larger; 10 GB/s.
    builder.trace().facts = {{"peak.product.f32.128", "10000"},
                             {"peak.product.f32.1024", "20000"},
                             {"peak.copy.262144", "20000"},
                             {"peak.copy.67108864", "10000"}};
  }
  return builder;
}

TEST(Headroom, IsWhatOperatorsTakeBeyondTheirFloor) {
  const Timeline timeline = Timeline::Build(std::move(Program(true).trace()));
  const auto headroom = HeadroomOf(timeline);
  ASSERT_TRUE(headroom);
  EXPECT_DOUBLE_EQ(headroom->step_ms, 20);
  EXPECT_NEAR(headroom->operators_ms, 4 + 2 + 3, 1e-9);
  EXPECT_NEAR(headroom->unknown_ms, 1, 1e-9);
  // 20 MFLOP, as a square of 215: at 20 GFLOP/s 1 ms, each of both. 12 MB at 10 GB/s: 1.2 ms.
  EXPECT_NEAR(headroom->floor_ms, 1 + 1 + 1.2, 1e-6);
  EXPECT_NEAR(headroom->times_floor(), 20 / 3.2, 1e-6);
  EXPECT_NEAR(headroom->mfu_pct, 100 * 2.0 / 20, 1e-6);
  ASSERT_EQ(headroom->lines.size(), 3u);
  EXPECT_EQ(headroom->lines[0].what, "aten::mm");
  EXPECT_EQ(headroom->lines[0].where->line, 10) << "its backward pass is its line's";
  EXPECT_NEAR(headroom->lines[0].ms, 7, 1e-9);
  EXPECT_NEAR(headroom->lines[0].floor_ms.value(), 2, 1e-6);
  EXPECT_EQ(headroom->lines[1].what, "mine::op") << "all of what is unknown may be above the floor";
  EXPECT_FALSE(headroom->lines[1].floor_ms);
  EXPECT_EQ(headroom->lines[2].where->line, 20);
  EXPECT_EQ(headroom->peaks.size(), 4u);
}

TEST(Headroom, AnOperatorFasterThanThePeakIsItsOwnFloor) {
  TraceBuilder builder = Program(true);
  builder.trace().facts["peak.copy.67108864"] = "100";
  const Timeline timeline = Timeline::Build(std::move(builder.trace()));
  const auto headroom = HeadroomOf(timeline);
  ASSERT_TRUE(headroom);
  EXPECT_NEAR(headroom->lines.back().floor_ms.value(), headroom->lines.back().ms, 1e-9);
}

TEST(Headroom, IsUnknownWithoutPeaksOrShapes) {
  EXPECT_FALSE(HeadroomOf(Timeline::Build(std::move(Program(false).trace()))));
  EXPECT_FALSE(HeadroomOf(Timeline::Build(Trace{})));
  TraceBuilder types = Program(true);
  std::erase_if(types.trace().facts, [](const auto& fact) { return fact.first.starts_with("peak.product"); });
  const auto headroom = HeadroomOf(Timeline::Build(std::move(types.trace())));
  ASSERT_TRUE(headroom);
  EXPECT_NEAR(headroom->unknown_ms, 8, 1e-9) << "products of a type whose peak is not known";
}

}  // namespace
}  // namespace loopscope
