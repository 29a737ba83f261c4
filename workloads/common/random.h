// A counter-based random generator: a value depends on the key and the position alone, never on what another thread
// drew.
#pragma once

#include <cstdint>

namespace loopscope::train {

// SplitMix64's finaliser (Steele, Lea, Flood 2014).
constexpr std::uint64_t Mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

constexpr std::uint64_t Hash(std::uint64_t a, std::uint64_t b) {
  return Mix(Mix(a + 0x9e3779b97f4a7c15u) ^ b);
}
constexpr std::uint64_t Hash(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return Hash(Hash(a, b), c);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t key) : key_(key) {}

  constexpr std::uint64_t Bits() { return Mix(key_ + 0x9e3779b97f4a7c15u * ++position_); }
  constexpr double Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }  // in [0, 1)
  constexpr double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

 private:
  std::uint64_t key_;
  std::uint64_t position_ = 0;
};

}  // namespace loopscope::train
