// What a test asks of the library that stands in for CUPTI: which call fails, and what it was told.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace loopscope::test {

// In the stand-in's clock, when it was asked to keep one of its own.
inline constexpr std::uint64_t kKernelStart = 10'000'000'000, kClockAhead = 7'000'000'000;

struct StandIn {
  char log[1 << 16];              // every call that changes something, one a line, in order
  CUptiResult clock_result;       // of cuptiActivityRegisterTimestampCallback
  CUptiResult thread_ids_result;  // of cuptiSetThreadIdType
  CUptiResult enable_result;      // of cuptiActivityEnable …
  CUpti_ActivityKind refused;     // … for this kind, or for all where it is 0
  CUptiResult call_result;        // of cuptiActivityEnableRuntimeApi
  CUptiResult register_result;    // of cuptiActivityRegisterCallbacks
  std::uint32_t version;          // 0: the stand-in's own
  std::size_t dropped;            // told once per buffer
  bool hang_in_last_flush;
  bool starts_late;  // takes its first buffer when a flush asks, not when a kind is enabled
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc completed;
  void (*complete)(bool locked);  // hands over an empty buffer; `locked`: while holding the lock that counts drops
};

}  // namespace loopscope::test

extern "C" loopscope::test::StandIn* stand_in_cupti();
