// What the program shows of itself: the treatments that it applies, and its sampler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loopscope::loop {

// Treatments that the program, or a shim in it, applies itself: the LibTorch probe does not apply these.
void Claim(std::string_view key) noexcept;
bool Claimed(std::string_view key) noexcept;

// Writes the fact "program.language" ("python" where an interpreter is loaded, else "c++") and a record of each claimed
// key: which treatments something in this program can apply.
void WriteProgramFacts() noexcept;

// Facts about a C++ program's sampler, by which ranks are compared.

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
