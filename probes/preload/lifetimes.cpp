#include "probes/preload/lifetimes.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "probes/capture/records.h"
#include "probes/preload/calls.h"

namespace loopscope::lifetimes {
namespace {

constexpr std::size_t kWorthFollowing = 64 * 1024;  // bytes
constexpr std::size_t kMostTensors = 6000;          // there when the window opens, or allocated in it
constexpr std::size_t kSlots = 16384;               // a power of two, over twice as many
constexpr std::size_t kMostSteps = 16;
constexpr std::ptrdiff_t kMostWritten = 48;
constexpr std::uint64_t kWorthWritingShare = 200;  // of the peak: tensors of less than a 200th of it are left out

struct Tensor {
  const void* data;
  std::uint64_t bytes, allocated_ns, used_ns, freed_ns;
  std::uint32_t thread;
  bool trained_on;  // used by the training thread
};

struct Peak {
  std::uint64_t bytes, time_ns;
};

enum class Phase : std::uint32_t { kBefore, kOpen, kOver };

std::atomic<std::int64_t> held{0};  // bytes, by all tensors; where it is not malloc's memory by those that are followed
std::atomic<Phase> phase{Phase::kOver};

// Guarded by `busy`.
std::array<Tensor, kMostTensors> tensors;
std::array<std::uint16_t, kSlots> slots;         // index of a tensor plus one, by address; 0: never used
std::array<std::uint16_t, kMostTensors> unused;  // indices of tensors that were freed before the window
std::size_t tensors_count = 0, unused_count = 0, slots_count = 0, steps_count = 0;
std::array<Peak, kMostSteps> peaks;
Peak peak;
std::uint32_t training_thread = 0;
std::uint64_t opened_ns = 0;
std::atomic<bool> overflown{false};  // the data is incomplete

std::atomic_flag busy = ATOMIC_FLAG_INIT;

// Gives up quickly: allocations must not wait for each other, and in a forked child it may stay locked forever.
class TryLock {
 public:
  TryLock() noexcept {
    for (int tries = 0; tries < 2000 && !mine_; ++tries) mine_ = !busy.test_and_set(std::memory_order_acquire);
  }
  ~TryLock() {
    if (mine_) busy.clear(std::memory_order_release);
  }
  explicit operator bool() const noexcept { return mine_; }

 private:
  bool mine_ = false;
};

std::uint32_t ThreadId() noexcept {
  static thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

// The slot of the last tensor at this address, or the free one for it; null where all are taken.
std::uint16_t* SlotOf(const void* data) noexcept {
  const std::size_t first = (reinterpret_cast<std::uintptr_t>(data) >> 6) * 0x9e3779b97f4a7c15ull >> 50;
  for (std::size_t n = 0; n < kSlots; ++n) {
    std::uint16_t& slot = slots[(first + n) % kSlots];
    if (slot == 0 || tensors[slot - 1].data == data) return &slot;
  }
  return nullptr;
}

// Drops the addresses of freed tensors, which would fill the table.
void Rehash() noexcept {
  slots.fill(0);
  slots_count = 0;
  for (std::size_t n = 0; n < tensors_count; ++n) {
    if (tensors[n].freed_ns != 0) continue;
    *SlotOf(tensors[n].data) = static_cast<std::uint16_t>(n + 1);
    ++slots_count;
  }
}

// Null where there is no room for one more.
Tensor* Add(const void* data) noexcept {
  if (slots_count > kSlots / 2) Rehash();
  if (unused_count == 0 && tensors_count == kMostTensors) return nullptr;
  std::uint16_t* slot = SlotOf(data);
  if (slot == nullptr) return nullptr;
  if (*slot == 0) ++slots_count;
  const std::size_t index = unused_count > 0 ? unused[--unused_count] : tensors_count++;
  *slot = static_cast<std::uint16_t>(index + 1);
  return &tensors[index];
}

// A live tensor; null where none is followed at this address.
Tensor* Find(const void* data) noexcept {
  const std::uint16_t* slot = SlotOf(data);
  if (slot == nullptr || *slot == 0 || tensors[*slot - 1].freed_ns != 0) return nullptr;
  return &tensors[*slot - 1];
}

bool HeldIdle(const Tensor& tensor, const Peak& at) noexcept {
  return tensor.trained_on && tensor.used_ns < at.time_ns && (tensor.freed_ns == 0 || tensor.freed_ns > at.time_ns) &&
         tensor.bytes >= at.bytes / kWorthWritingShare;
}

// The allocation that shows where a tensor comes from. A loader that runs far ahead made this batch before the window,
// but makes the next ones inside it: of the same size, and not freed at once like its temporary tensors.
const Tensor& OriginOf(const Tensor& one) noexcept {
  if (one.allocated_ns >= opened_ns || one.thread == training_thread) return one;
  const auto end = tensors.begin() + tensors_count;
  const auto next = std::ranges::find_if(tensors.begin(), end, [&](const Tensor& other) {
    return other.thread != training_thread && other.bytes == one.bytes && other.allocated_ns >= opened_ns &&
           (other.trained_on || other.freed_ns == 0);
  });
  return next == end ? one : *next;
}

// The last step is excluded: its tensors may be used in the next.
void WriteAll() noexcept {
  if (overflown || steps_count < 2) return;
  const auto peaks_end = peaks.begin() + (steps_count - 1);
  std::for_each(peaks.begin(), peaks_end, [](const Peak& at) { capture::WriteTensorPeak(at.time_ns, at.bytes); });
  const auto idle = [&](const Tensor& tensor) {
    return std::any_of(peaks.begin(), peaks_end, [&](const Peak& at) { return HeldIdle(tensor, at); });
  };
  const auto end = std::partition(tensors.begin(), tensors.begin() + tensors_count, idle);
  std::sort(tensors.begin(), end, [](const Tensor& a, const Tensor& b) { return a.bytes > b.bytes; });
  const auto written = std::min<std::ptrdiff_t>(end - tensors.begin(), kMostWritten);
  std::for_each(tensors.begin(), tensors.begin() + written, [](const Tensor& one) {
    const Tensor& origin = OriginOf(one);
    capture::WriteTensor({.head = {},
                          .tid = origin.thread,
                          .bytes = one.bytes,
                          .allocated_ns = origin.allocated_ns,
                          .used_ns = one.used_ns,
                          .freed_ns = one.freed_ns});
  });
}

std::uint64_t HeldNow() noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, held.load(std::memory_order_relaxed)));
}

// By any thread.
void Allocated(const void* data, std::size_t bytes, std::size_t held_bytes) noexcept {
  const Phase now = phase.load(std::memory_order_relaxed);
  if (data == nullptr || now == Phase::kOver) return;
  const bool of_malloc = held_bytes > 0, followed = bytes >= kWorthFollowing;
  if (!of_malloc && followed) held_bytes = bytes;
  held.fetch_add(static_cast<std::int64_t>(held_bytes), std::memory_order_relaxed);
  if (!followed && (now == Phase::kBefore || !of_malloc)) return;
  const TryLock lock;
  if (!lock) {
    if (!of_malloc) overflown = true;
    return;
  }
  const std::uint64_t now_ns = capture::NowNs();
  if (HeldNow() > peak.bytes) peak = {HeldNow(), now_ns};
  if (!followed) return;
  Tensor* tensor = Add(data);
  if (tensor == nullptr) {
    overflown = true;
    return;
  }
  *tensor = {data, bytes, now_ns, 0, 0, ThreadId(), false};
}

void Freed(const void* data, std::size_t held_bytes) noexcept {
  const Phase now = phase.load(std::memory_order_relaxed);
  if (data == nullptr || now == Phase::kOver) return;
  const bool of_malloc = held_bytes > 0;
  held.fetch_sub(static_cast<std::int64_t>(held_bytes), std::memory_order_relaxed);
  if (of_malloc && held_bytes < kWorthFollowing) return;
  const TryLock lock;
  if (!lock) {
    if (!of_malloc) overflown = true;
    return;
  }
  Tensor* tensor = Find(data);
  if (tensor == nullptr) return;
  if (!of_malloc) held.fetch_sub(static_cast<std::int64_t>(tensor->bytes), std::memory_order_relaxed);
  tensor->freed_ns = capture::NowNs();
  if (now == Phase::kBefore) unused[unused_count++] = static_cast<std::uint16_t>(tensor - tensors.data());
}

}  // namespace

void Follow() noexcept {
  static constexpr MemoryObserver observer{.allocated = Allocated, .frees = Freed};
  phase.store(Phase::kBefore, std::memory_order_relaxed);
  Calls().observe_memory(&observer);
}

void Forget() noexcept {
  phase.store(Phase::kOver, std::memory_order_relaxed);
  Calls().observe_memory(nullptr);
}

void Used(const void* storage, std::uint64_t time_ns) noexcept {
  if (storage == nullptr || phase.load(std::memory_order_relaxed) != Phase::kOpen) return;
  const TryLock lock;
  if (!lock) return;
  Tensor* tensor = Find(storage);
  if (tensor == nullptr) return;
  tensor->used_ns = time_ns;
  if (ThreadId() == training_thread) tensor->trained_on = true;
}

void StepEnded(bool detail) noexcept {
  const Phase before = phase.load(std::memory_order_relaxed);
  if (before == Phase::kOver || (before == Phase::kBefore && !detail)) return;
  const TryLock lock;
  if (!lock) return;
  if (before == Phase::kOpen) {
    if (steps_count < kMostSteps) peaks[steps_count++] = peak;
  } else {
    training_thread = ThreadId();
  }
  peak = {HeldNow(), capture::NowNs()};
  if (before == Phase::kBefore) opened_ns = peak.time_ns;
  if (detail) return phase.store(Phase::kOpen, std::memory_order_relaxed);
  Forget();
  WriteAll();
}

}  // namespace loopscope::lifetimes
