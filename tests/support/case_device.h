// The part of the .case format that is about devices: calls on the host and the work that they launch.
#pragma once

#include "tests/support/case_tokens.h"
#include "tests/support/trace_builder.h"

namespace loopscope::test {

// "launch", "nccl", "h2d", "d2h", "d2d", "memset", "graph".
bool IsDeviceWord(std::string_view word);

// Makes `event` the host's call of that kind, from the line's second word on; returns the index of the first attribute.
// Throws CaseError.
std::size_t ReadDeviceCall(const CaseLine& line, EventSpec& event);

// runs=, stream=, device=, delay=, bytes=, pageable, pinned of such a call; false when it is none of them. Throws
// CaseError.
bool ReadDeviceAttribute(const CaseLine& line, const std::string& key, const std::string& value, EventSpec& event);

}  // namespace loopscope::test
