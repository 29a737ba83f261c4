// What PyTorch's flight recorder and NCCL Inspector write: the collectives that a rank entered, and the pickle that the
// recorder's are in.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// From PyTorch's flight recorder: {"version": …, "pg_config": {…}, "entries": [{…}]}. Entries that are not objects
// count as dropped.
Trace TraceOfFlightDump(const nlohmann::json& dump);

// One JSON object a line, as NCCL's plugin "inspector" writes them. Lines that cannot be read count as dropped.
Trace TraceOfInspectorLines(std::string_view text);

// Reads a pickle of plain data (dicts, lists, tuples, texts, numbers), as PyTorch's flight recorder writes it. Nothing
// in it is executed: a pickle that asks for a class or a function is refused.

// Whether the bytes begin as a pickle of protocol 2 or later does.
bool MayBePickle(std::string_view head);

// Its value; tuples become arrays, and only texts are keys. Errors (without a place): damaged, cut off, not plain data,
// or of more than a few million values once shared ones are written out.
Result<nlohmann::json> PlainPickle(std::string_view bytes);

}  // namespace loopscope
