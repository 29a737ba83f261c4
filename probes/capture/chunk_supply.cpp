#include "probes/capture/chunk_supply.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace loopscope::capture {
namespace {

// Recycling smaller files is useless: most of their chunks are ready or belong to some thread.
constexpr std::uint32_t kLeastRecycled = 64;
constexpr std::uint32_t kReadyShare = 8;
constexpr std::uint32_t kFreeForOthers = 16;
constexpr int kTries = 4;

wire::FileHeader* HeaderOf(const DiskFile& disk) noexcept {
  return reinterpret_cast<wire::FileHeader*>(disk.base());
}

}  // namespace

void ChunkSupply::Start(DiskFile& disk) noexcept {
  disk_ = &disk;
  const std::uint64_t chunks = (disk.mapped_bytes() - wire::kHeaderBytes) / wire::kChunkBytes;
  most_chunks_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(chunks, wire::kMaxCopiedChunks - 1));
  recycles_ = most_chunks_ >= kLeastRecycled;
  if (recycles_) most_chunks_ -= Recycler::kOwnChunks;
  recycler_.Start(disk.base(), most_chunks_);
}

std::uint32_t ChunkSupply::Grow(std::uint32_t most, int& error) noexcept {
  const std::atomic_ref<std::uint32_t> next(HeaderOf(*disk_)->next_chunk);
  std::uint32_t index = next.load(std::memory_order_relaxed);
  do {
    if (index >= most) {
      error = EFBIG;
      return 0;
    }
  } while (!next.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  error = disk_->Reserve(wire::kHeaderBytes + std::uint64_t{index} * wire::kChunkBytes, wire::kChunkBytes);
  if (error == 0) return index + 1;
  std::uint32_t ours = index + 1;
  next.compare_exchange_strong(ours, index);
  return 0;
}

std::uint32_t ChunkSupply::FreeOrGrown(int& error) noexcept {
  if (const std::uint32_t free = recycler_.TakeFree()) return free;
  return Grow(most_chunks_, error);
}

bool ChunkSupply::FreeOne() noexcept {
  const auto own_chunk = [this] {
    int error = 0;
    return Grow(most_chunks_ + Recycler::kOwnChunks, error);
  };
  return recycler_.FreeOne(own_chunk);
}

std::uint32_t ChunkSupply::Make(int& error) noexcept {
  const std::uint32_t made = FreeOrGrown(error);
  if (made != 0 || error != EFBIG || !recycles_ || !at_limit()) return made;
  bool may_come = true;
  // The lock's holder is freeing one; it may have lost its processor.
  bool ours = pthread_mutex_trylock(&recycling_) == 0;
  for (int n = 0; n < kTries && !ours; ++n) {
    sched_yield();
    if (const std::uint32_t free = recycler_.TakeFree()) {
      error = 0;
      return free;
    }
    ours = pthread_mutex_trylock(&recycling_) == 0;
  }
  if (ours) {
    may_come = FreeOne() || !recycler_.KeepsTooMuch();
    pthread_mutex_unlock(&recycling_);
  }
  if (!may_come) return 0;
  error = 0;
  return recycler_.TakeFree();
}

void ChunkSupply::FreeForOthers() noexcept {
  if (!recycles_ || pthread_mutex_trylock(&recycling_) != 0) return;
  while (at_limit() && recycler_.free_count() < kFreeForOthers && FreeOne()) {
  }
  pthread_mutex_unlock(&recycling_);
}

void ChunkSupply::Forked() noexcept {
  recycling_ = PTHREAD_MUTEX_INITIALIZER;
  recycler_.Forked();
}

void ChunkSupply::Closed(const wire::ChunkHeader* chunk) noexcept {
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<const unsigned char*>(chunk) - disk_->base());
  recycler_.Closed(static_cast<std::uint32_t>((offset - wire::kHeaderBytes) / wire::kChunkBytes) + 1);
}

bool ChunkSupply::at_limit() const noexcept {
  return std::atomic_ref(HeaderOf(*disk_)->next_chunk).load(std::memory_order_relaxed) >= most_chunks_;
}

unsigned ChunkSupply::MostReady(unsigned wanted) const noexcept {
  return recycles_ ? std::min(wanted, most_chunks_ / kReadyShare) : wanted;
}

}  // namespace loopscope::capture
