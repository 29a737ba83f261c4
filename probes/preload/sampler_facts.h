// Facts about a C++ program's sampler, by which ranks are compared.
#pragma once

#include <cstddef>
#include <string_view>

namespace loopscope::loop {

// Writes the name of the first sampler used, and the samples of its first batch; once.
void DescribeSampler(std::string_view sampler, const std::size_t* indices, std::size_t samples) noexcept;

// A batch's indices, chained within one pass over the data.
inline std::uint64_t ChainHash(std::uint64_t hash, const std::size_t* indices, std::size_t count) noexcept {
  for (std::size_t n = 0; n < count; ++n) {
    hash = (hash ^ indices[n]) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 33;
  }
  return hash;
}

}  // namespace loopscope::loop
