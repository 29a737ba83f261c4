// The part of the .case format that is about tensors in the host's memory, followed one by one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/case_tokens.h"
#include "tests/support/trace_builder.h"

namespace loopscope::test {

// The tensors of one step: all times count from its start.
struct TensorSpecs {
  std::vector<TensorPeak> peaks;
  std::vector<std::pair<std::string, IdleTensor>> tensors;  // by the name of the thread that made them
};

// "tensors 20MB after=5ms" and "tensor 5MB made=1ms used=2ms freed=9ms thread=loader"; false for any other line. Throws
// CaseError.
bool ReadTensorLine(const CaseLine& line, TensorSpecs& specs);

// Adds them to the trace, for a step that begins at `start_ns`.
void LayTensors(TraceBuilder& builder, const TensorSpecs& specs, std::int64_t start_ns);

}  // namespace loopscope::test
