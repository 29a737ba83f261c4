#include "probes/cupti/buffers.h"

#include <cstdlib>
#include <cstring>

#include "probes/mutex_guard.h"

namespace loopscope {
namespace {

constexpr std::size_t kAlignment = 4096;

}  // namespace

std::uint8_t* Buffers::Take() noexcept {
  std::uint8_t* buffer = nullptr;
  {
    const MutexGuard guard(lock_);
    if (kept_count_ > 0) buffer = kept_[--kept_count_];
  }
  if (buffer == nullptr) {
    buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
    if (buffer == nullptr) return nullptr;
    std::memset(buffer, 0, kBytes);
  }
  taken_.fetch_add(1, std::memory_order_release);
  return buffer;
}

void Buffers::GiveBack(std::uint8_t* buffer) noexcept {
  given_back_.fetch_add(1, std::memory_order_release);
  std::memset(buffer, 0, kBytes);
  {
    const MutexGuard guard(lock_);
    if (kept_count_ < kKept) {
      kept_[kept_count_++] = buffer;
      return;
    }
  }
  std::free(buffer);
}

}  // namespace loopscope
