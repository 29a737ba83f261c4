// Time ranges whose operators are never evicted.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace loopscope::capture {

// Operators are kept from the start on, and in ranges that the caller opens.
class KeptTimes {
 public:
  void Start() noexcept;
  void Set(bool keep, std::uint64_t time_ns) noexcept;  // from `time_ns` on; one thread at a time
  bool Has(std::uint64_t time_ns) const noexcept;

 private:
  static constexpr std::uint32_t kMost = 64;  // later ones are not kept
  struct Time {
    std::atomic<std::uint64_t> begin_ns{0}, end_ns{0};
  };
  std::array<Time, kMost> times_{};
  std::atomic<std::uint32_t> count_{0};
  bool open_ = false;
};

}  // namespace loopscope::capture
