#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/core/report/compare.h"

namespace loopscope {
namespace {

using testing::IsEmpty;

LineRow Line(const std::string& path, int line, const std::string& function, const std::string& what, double ms) {
  LineRow row;
  row.where = Where{path, line, function};
  row.what = what;
  row.phase = "other";
  row.ms = ms;
  return row;
}

Report RunOf(double step_ms, std::vector<LineRow> lines) {
  Report report;
  report.steps.mean_ms = step_ms;
  report.lines = std::move(lines);
  return report;
}

TEST(WhatGrew, NamesPartsAndLinesTheLargestFirst) {
  Report before =
      RunOf(100, {Line("/base/train.py", 30, "step", "aten::mm", 60), Line("/base/train.py", 40, "log", "", 5)});
  Report after =
      RunOf(130, {Line("/here/train.py", 33, "step", "aten::mm", 61), Line("/here/train.py", 50, "log", "", 15),
                  Line("/here/train.py", 51, "log", "", 5), Line("/here/data.py", 7, "load", "json.loads", 20)});
  before.breakdown_ms[static_cast<std::size_t>(Part::kForward)] = 60;
  after.breakdown_ms[static_cast<std::size_t>(Part::kForward)] = 61;
  before.breakdown_ms[static_cast<std::size_t>(Part::kOther)] = 10;
  after.breakdown_ms[static_cast<std::size_t>(Part::kOther)] = 40;
  const std::vector<GrownTime> grown = WhatGrew(before, after);
  ASSERT_EQ(grown.size(), 3u);
  EXPECT_EQ(grown[0].kind, GrownKind::kPart);
  EXPECT_EQ(grown[0].name, "other");
  EXPECT_EQ(grown[1].where->path, "/here/data.py");
  EXPECT_EQ(grown[1].before_ms, 0);
  EXPECT_EQ(grown[2].where->line, 50) << "lines of a function that do the same are one, at the largest";
  EXPECT_EQ(grown[2].before_ms, 5);
  EXPECT_EQ(grown[2].after_ms, 20);
}

TEST(WhatGrew, LittleGrowthIsLeftOut) {
  const Report before =
      RunOf(100, {Line("train.py", 30, "step", "aten::mm", 60), Line("train.py", 31, "step", "f", 1)});
  EXPECT_THAT(WhatGrew(before, RunOf(105, {Line("train.py", 30, "step", "aten::mm", 64)})), IsEmpty())
      << "under a tenth";
  EXPECT_THAT(WhatGrew(before, RunOf(101, {Line("train.py", 31, "step", "f", 2.5)})), IsEmpty())
      << "under 2 % of the step";
  EXPECT_THAT(WhatGrew(before, before), IsEmpty());
  EXPECT_THAT(WhatGrew(Report(), before), IsEmpty()) << "no step was seen";
}

TEST(WhatGrew, AtMostFiveOfAKind) {
  std::vector<LineRow> lines;
  for (int line = 1; line <= 9; ++line)
    lines.push_back(Line("train.py", line, "f" + std::to_string(line), "", 10.0 * line));
  const std::vector<GrownTime> grown = WhatGrew(RunOf(100, {}), RunOf(550, lines));
  ASSERT_EQ(grown.size(), 5u);
  EXPECT_EQ(grown[0].where->line, 9);
  EXPECT_EQ(grown[4].where->line, 5);
}

}  // namespace
}  // namespace loopscope
