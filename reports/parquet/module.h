// The interface to the module that links Arrow, libloopscope_parquet.so: Loopscope itself runs without it. Both come
// from one build, so C++ types may cross it.
#pragma once

#include <string>

#include "reports/parquet/tables.h"

namespace loopscope {

inline constexpr const char* kParquetModule = "libloopscope_parquet.so";
inline constexpr const char* kParquetEntry = "LoopscopeWriteParquet";

// Encodes `table` as a Parquet file into `bytes`. Returns "" or what went wrong. Throws nothing.
using WriteParquet = std::string (*)(const Table& table, std::string& bytes);

}  // namespace loopscope
