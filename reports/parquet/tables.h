// A report and its events as tables of columns, for formats that databases read.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

// Means "no value" in a column of numbers; in a column of texts that is −1.
inline constexpr std::int64_t kNoWhole = std::numeric_limits<std::int64_t>::min();
inline constexpr double kNoReal = std::numeric_limits<double>::quiet_NaN();

// Each distinct text once, and for each row the index of its text.
struct TextColumn {
  std::vector<std::string> texts;  // printable UTF-8
  std::vector<std::int32_t> rows;
};
using YesNoColumn = std::vector<std::uint8_t>;

struct TableColumn {
  std::string name;  // with its unit: "duration_ns"
  std::variant<std::vector<std::int64_t>, std::vector<double>, YesNoColumn, TextColumn> values;
};

struct Table {
  std::string name;  // "steps"
  std::vector<TableColumn> columns;
};

// "steps", "ops" (operators and ranges of the host's threads), "kernels" (all that devices did), "findings" and
// "lines"; docs/traces.md describes the columns. All begin with `started` and `rank`, so that tables of many runs can
// be read as one. A report read from JSON has findings and lines only: the other tables are empty.
std::vector<Table> TablesOf(const Report& report);

}  // namespace loopscope
