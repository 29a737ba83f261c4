// Operators that take rows of a table by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/core/trace/inputs.h"

namespace loopscope {

struct Lookup {
  std::vector<std::int64_t> table;  // its sizes: rows, then one number
  std::int64_t rows = 0;            // at most: each index may be another row
  bool trained = false;             // the table asks for a gradient
  bool sparse = false;              // … that holds only the rows that were looked up
  bool only_tables = false;         // an embedding: never takes rows of other tensors
};

bool IsLookup(std::string_view name);
// Absent where it takes no rows of a table of two dimensions.
std::optional<Lookup> LookupOf(std::string_view name, const std::vector<TensorText>& inputs);

// Makes the gradient of a whole table from those of the rows; one of its inputs is the number of rows.
bool MakesTableGradient(std::string_view name);
// Adds the gradients of rows to a table that was filled with zeros for them; its first input is the table's gradient.
bool AddsRows(std::string_view name);

}  // namespace loopscope
