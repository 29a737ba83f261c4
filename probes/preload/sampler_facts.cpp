#include "probes/preload/sampler_facts.h"

#include <atomic>
#include <cstdio>

#include "probes/capture/records.h"
#include "probes/preload/loop.h"

namespace loopscope::loop {

void DescribeSampler(std::string_view sampler, const std::size_t* indices, std::size_t samples) noexcept {
  static std::atomic<bool> described{false};
  if (!Tracing() || described.load(std::memory_order_relaxed) || described.exchange(true)) return;
  char text[512];
  std::size_t length = 0;
  for (std::size_t i = 0; i < samples && length + 24 < sizeof text; ++i) {
    length += static_cast<std::size_t>(
        std::snprintf(text + length, sizeof text - length, i == 0 ? "%zu" : ",%zu", indices[i]));
  }
  capture::WriteFact("loader.sampler", sampler);
  capture::WriteFact("loader.first", {text, length});
}

}  // namespace loopscope::loop
