// The buffers that CUPTI fills: made when it asks, kept for the next time, counted.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace loopscope {

class Buffers {
 public:
  // CUPTI hands a buffer over when it is full, or once all work in it is done, which never happens on a busy device.
  // This size holds about 4,000 kernels with their calls: that much is lost when a program is killed.
  static constexpr std::size_t kBytes = 1 << 20;

  // kBytes zeros; null when there is no memory.
  std::uint8_t* Take() noexcept;
  void GiveBack(std::uint8_t* buffer) noexcept;

  // Whether CUPTI ever took one, and whether it has one now.
  bool AnyTaken() const noexcept { return taken_.load(std::memory_order_acquire) > 0; }
  bool AnyOut() const noexcept { return taken_.load(std::memory_order_acquire) > given_back_.load(); }

 private:
  static constexpr std::size_t kKept = 32;

  std::array<std::uint8_t*, kKept> kept_{};
  std::size_t kept_count_ = 0;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // among the kept ones
  std::atomic<std::uint64_t> taken_{0}, given_back_{0};
};

}  // namespace loopscope
