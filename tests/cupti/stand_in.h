// What a test asks of the library that stands in for CUPTI: which call fails, and what it was told.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace loopscope::test {

struct StandIn {
  char log[1 << 16];            // every call that changes something, one a line, in order
  CUptiResult enable_result;    // of cuptiActivityEnable
  CUptiResult register_result;  // of cuptiActivityRegisterCallbacks
  std::uint32_t version;        // 0: that of the headers
  std::size_t dropped;          // told once per buffer
  bool hang_in_last_flush;
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc completed;
};

}  // namespace loopscope::test

extern "C" loopscope::test::StandIn* stand_in_cupti();
