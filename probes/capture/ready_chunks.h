// The chunks that lie ready for threads to take, by number: filled by the helper, emptied without a lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace loopscope::capture {

class ReadyChunks {
 public:
  static constexpr unsigned kMax = 256;
  using Slot = std::atomic<std::uint32_t>;  // a chunk's number + 1; 0 is an empty slot

  unsigned target() const noexcept { return target_.load(std::memory_order_relaxed); }
  void SetTarget(unsigned chunks) noexcept { target_.store(std::clamp(chunks, 1u, kMax), std::memory_order_relaxed); }

  // Calls `fill` with each empty slot up to the target until it returns false, which is then returned.
  template <class Fill>
  bool FillEmpty(Fill fill) noexcept {
    const unsigned end = target();
    for (unsigned n = 0; n < end; ++n) {
      if (slots_[n].load(std::memory_order_relaxed) == 0 && !fill(slots_[n])) return false;
    }
    return true;
  }

  // Takes the chunk with the lowest number from `from` on, so that a thread's chunks lie in the order of their records,
  // and returns its number + 1; 0 when there is none. `left` becomes how many there were.
  std::uint32_t TakeLowest(std::uint32_t from, unsigned& left) noexcept {
    const unsigned end = target();
    for (;;) {
      Slot* lowest = nullptr;
      std::uint32_t chunk = 0;
      left = 0;
      for (unsigned n = 0; n < end; ++n) {
        const std::uint32_t here = slots_[n].load(std::memory_order_acquire);
        if (here <= from) continue;
        ++left;
        if (chunk == 0 || here < chunk) lowest = &slots_[n], chunk = here;
      }
      if (chunk == 0 || lowest->compare_exchange_strong(chunk, 0, std::memory_order_acquire)) return chunk;
    }
  }

  // Empties all slots; calls `drop` with each number + 1 that was in one.
  template <class Drop>
  void Drain(Drop drop) noexcept {
    for (Slot& slot : slots_) {
      if (const std::uint32_t chunk = slot.exchange(0)) drop(chunk);
    }
  }

 private:
  Slot slots_[kMax]{};
  std::atomic<std::uint32_t> target_{8};
};

}  // namespace loopscope::capture
