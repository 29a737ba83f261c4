// Places in a report's JSON.
#pragma once

#include "profiler/core/trace/place.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<Where> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields.Path("path", row.path);
    fields("line", row.line);
    fields("function", row.function);
  }
};

}  // namespace loopscope
