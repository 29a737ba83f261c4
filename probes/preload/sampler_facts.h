// What a C++ program's sampler is, as facts: ranks are compared by them.
#pragma once

#include <cstddef>
#include <string_view>

namespace loopscope::loop {

// Writes the name of the first sampler that the program asks, and the samples of its first batch; once.
void DescribeSampler(std::string_view sampler, const std::size_t* indices, std::size_t samples) noexcept;

}  // namespace loopscope::loop
