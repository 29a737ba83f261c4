// A report's tables: their shape, what is unknown, and the self times of events that contain each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>

#include "reports/parquet/tables.h"
#include "tests/support/sample_report.h"

namespace loopscope {
namespace {

const Table& Named(const std::vector<Table>& tables, std::string_view name) {
  for (const Table& table : tables) {
    if (table.name == name) return table;
  }
  throw std::out_of_range("no such table");
}

template <class Values>
const Values& Column(const Table& table, std::string_view name) {
  for (const TableColumn& column : table.columns) {
    if (column.name == name) return std::get<Values>(column.values);
  }
  throw std::out_of_range("no such column");
}

using Whole = std::vector<std::int64_t>;

std::size_t RowsOf(const TextColumn& texts) {
  return texts.rows.size();
}
template <class T>
std::size_t RowsOf(const std::vector<T>& values) {
  return values.size();
}
std::size_t Rows(const TableColumn& column) {
  return std::visit([](const auto& values) { return RowsOf(values); }, column.values);
}

Event At(std::int64_t start_ns, std::int64_t end_ns, StringId name, EventKind kind, RangeCategory category) {
  Event event;
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  event.name = name;
  event.kind = kind;
  if (kind == EventKind::kRange) event.sub = static_cast<std::uint8_t>(category);
  return event;
}

// Four steps of 100 ns: backward with two operators, one inside the other, and a kernel.
Trace FourSteps() {
  Trace trace;
  trace.strings = {"", "backward", "aten::mm", "aten::copy_", "gemm\x1b", "step"};
  trace.run.started = "2026-05-01T10:00:00Z";
  trace.run.rank = 3;
  Thread thread{100, 101, "main", {}};
  Device device{"GPU", 0, {}};
  for (int step = 0; step < 4; ++step) {
    const std::int64_t at = 1000 + 100 * step;
    thread.events.push_back(At(at, at + 90, 1, EventKind::kRange, RangeCategory::kBackward));
    thread.events.push_back(At(at + 10, at + 60, 2, EventKind::kOp, {}));
    thread.events.push_back(At(at + 20, at + 50, 3, EventKind::kOp, {}));
    trace.marks.push_back({at + 99, MarkKind::kStepEnd, 5, 0, 0});
    DeviceEvent kernel;
    kernel.start_ns = at + 40;
    kernel.end_ns = at + 80;
    kernel.name = 4;
    device.events.push_back(kernel);
  }
  trace.threads.push_back(std::move(thread));
  trace.devices.push_back(std::move(device));
  return trace;
}

TEST(Tables, AllColumnsOfATableHaveAsManyRows) {
  Report report = ReportOf(std::make_shared<const Timeline>(Timeline::Build(FourSteps())));
  report.findings = test::SampleReport().findings;
  report.lines = test::SampleReport().lines;
  const std::vector<Table> tables = TablesOf(report);
  ASSERT_EQ(tables.size(), 5u);
  const std::vector<std::size_t> rows = {4, 12, 4, 4, 5};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const TableColumn& column : tables[i].columns) EXPECT_EQ(Rows(column), rows[i]) << column.name;
    EXPECT_EQ(Column<Whole>(tables[i], "rank"), Whole(rows[i], 3));
    EXPECT_THAT(Column<TextColumn>(tables[i], "started").texts, testing::ElementsAre("2026-05-01T10:00:00Z"));
  }
}

TEST(Tables, SelfTimeIsWithoutWhatIsInside) {
  const Report report = ReportOf(std::make_shared<const Timeline>(Timeline::Build(FourSteps())));
  const Timeline& timeline = *report.timeline;
  const std::vector<Table> tables = TablesOf(report);
  const Whole& self = Column<Whole>(Named(tables, "ops"), "self_ns");
  ASSERT_EQ(self.size(), 12u);
  EXPECT_THAT(std::span(self).first(3), testing::ElementsAre(40, 20, 30));
  for (std::uint32_t i = 0; i < self.size(); ++i) EXPECT_EQ(self[i], timeline.self_ns({0, i}));
  EXPECT_THAT(std::span(Column<YesNoColumn>(Named(tables, "ops"), "outermost")).first(3),
              testing::ElementsAre(0, 1, 0));
}

TEST(Tables, WhatIsNotKnownHasNoValue) {
  const Report report = ReportOf(std::make_shared<const Timeline>(Timeline::Build(FourSteps())));
  const std::vector<Table> tables = TablesOf(report);
  const Table& kernels = Named(tables, "kernels");
  EXPECT_EQ(Column<Whole>(kernels, "bytes"), Whole(4, kNoWhole));
  EXPECT_EQ(Column<Whole>(kernels, "since_launch_ns"), Whole(4, kNoWhole));
  EXPECT_EQ(Column<Whole>(Named(tables, "ops"), "line"), Whole(12, kNoWhole));
  EXPECT_EQ(Column<Whole>(Named(tables, "steps"), "samples"), Whole(4, kNoWhole));
  const auto& waits = Column<std::vector<double>>(Named(tables, "steps"), "loader_wait_ms");
  EXPECT_TRUE(std::ranges::all_of(waits, [](double one) { return std::isnan(one); })) << "no loader was seen";
}

TEST(Tables, TextsArePrintableAndStandOnce) {
  const std::vector<Table> tables = TablesOf(ReportOf(std::make_shared<const Timeline>(Timeline::Build(FourSteps()))));
  const TextColumn& names = Column<TextColumn>(Named(tables, "kernels"), "name");
  EXPECT_THAT(names.texts, testing::ElementsAre("gemm\xef\xbf\xbd"));
  EXPECT_THAT(names.rows, testing::ElementsAre(0, 0, 0, 0));
}

TEST(Tables, OfAReportWithoutEventsHoldItsFindings) {
  const std::vector<Table> tables = TablesOf(test::SampleReport());
  EXPECT_EQ(Rows(Named(tables, "steps").columns[0]), 0u);
  EXPECT_EQ(Rows(Named(tables, "findings").columns[0]), 4u);
  const Table& lines = Named(tables, "lines");
  EXPECT_THAT(Column<std::vector<double>>(lines, "ms"),
              testing::ElementsAre(52.02, 33.33, 21.53, 10.56, 2.56, 1500, 40));
  EXPECT_THAT(Column<Whole>(lines, "line"), testing::ElementsAre(120, 31, 112, kNoWhole, 150, 150, 44));
  EXPECT_THAT(Column<Whole>(Named(tables, "findings"), "line"), testing::ElementsAre(120, kNoWhole, kNoWhole, 131));
}

}  // namespace
}  // namespace loopscope
