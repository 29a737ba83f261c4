// Tables as Parquet files by Arrow's C++ library: zstd, texts by dictionary.
#include "reports/parquet/module.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <parquet/arrow/writer.h>

#include <cmath>
#include <exception>
#include <memory>

namespace loopscope {
namespace {

constexpr std::int64_t kRowsInGroup = 1 << 18;

using arrow::Array;
template <class T>
using Made = arrow::Result<T>;

Made<std::shared_ptr<Array>> ArrayOf(const std::vector<std::int64_t>& values) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<std::int64_t>(values.size())));
  for (const std::int64_t value : values) value == kNoWhole ? builder.UnsafeAppendNull() : builder.UnsafeAppend(value);
  return builder.Finish();
}

Made<std::shared_ptr<Array>> ArrayOf(const std::vector<double>& values) {
  arrow::DoubleBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<std::int64_t>(values.size())));
  for (const double value : values) std::isnan(value) ? builder.UnsafeAppendNull() : builder.UnsafeAppend(value);
  return builder.Finish();
}

Made<std::shared_ptr<Array>> ArrayOf(const YesNoColumn& values) {
  arrow::BooleanBuilder builder;
  ARROW_RETURN_NOT_OK(builder.AppendValues(values.data(), static_cast<std::int64_t>(values.size())));
  return builder.Finish();
}

Made<std::shared_ptr<Array>> ArrayOf(const TextColumn& column) {
  arrow::StringBuilder texts;
  ARROW_RETURN_NOT_OK(texts.AppendValues(column.texts));
  arrow::Int32Builder rows;
  ARROW_RETURN_NOT_OK(rows.Reserve(static_cast<std::int64_t>(column.rows.size())));
  for (const std::int32_t row : column.rows) row < 0 ? rows.UnsafeAppendNull() : rows.UnsafeAppend(row);
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<Array> dictionary, texts.Finish());
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<Array> indices, rows.Finish());
  return arrow::DictionaryArray::FromArrays(arrow::dictionary(arrow::int32(), arrow::utf8()), indices, dictionary);
}

Made<std::shared_ptr<arrow::Buffer>> FileOf(const Table& table) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<Array>> arrays;
  for (const TableColumn& column : table.columns) {
    ARROW_ASSIGN_OR_RAISE(const auto array,
                          std::visit([](const auto& values) { return ArrayOf(values); }, column.values));
    fields.push_back(arrow::field(column.name, array->type()));
    arrays.push_back(array);
  }
  const auto whole = arrow::Table::Make(arrow::schema(std::move(fields)), std::move(arrays));
  const auto properties = parquet::WriterProperties::Builder().compression(parquet::Compression::ZSTD)->build();
  ARROW_ASSIGN_OR_RAISE(const auto out, arrow::io::BufferOutputStream::Create());
  ARROW_RETURN_NOT_OK(parquet::arrow::WriteTable(*whole, arrow::default_memory_pool(), out, kRowsInGroup, properties));
  return out->Finish();
}

}  // namespace
}  // namespace loopscope

extern "C" __attribute__((visibility("default"))) std::string LoopscopeWriteParquet(const loopscope::Table& table,
                                                                                    std::string& bytes) {
  try {
    const auto file = loopscope::FileOf(table);
    if (!file.ok()) return file.status().ToString();
    bytes.assign(reinterpret_cast<const char*>((*file)->data()), static_cast<std::size_t>((*file)->size()));
    return "";
  } catch (const std::exception& problem) {
    return problem.what();
  }
}
