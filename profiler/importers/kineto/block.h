// Records of one kind, by the window that held them, in memory returned to the system as soon as they are taken.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace loopscope {

// A heap keeps freed pieces that lie between others, so that the records would be held twice during the merge: pieces
// of a few pages are mapped instead.
struct BlockStorage {
  static constexpr std::size_t kMinMappedBytes = 8 * 1024;
  std::size_t bytes = 0;

  void operator()(void* items) const noexcept {
    bytes < kMinMappedBytes ? std::free(items) : void(munmap(items, bytes));
  }

  static void* Allocate(std::size_t bytes) {
    void* const items = bytes < kMinMappedBytes
                            ? std::malloc(bytes)
                            : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (items == nullptr || items == MAP_FAILED) throw std::bad_alloc();
    return items;
  }
};

// The records that one window held.
template <class T>
struct KinetoBlock {
  static_assert(std::is_trivially_copyable_v<T>);

  KinetoBlock(std::uint32_t of_window, const std::vector<T>& records)
      : window(of_window),
        size(records.size()),
        items(static_cast<T*>(BlockStorage::Allocate(size * sizeof(T))), BlockStorage{size * sizeof(T)}) {
    std::uninitialized_copy(records.begin(), records.end(), items.get());
  }

  std::uint32_t window;
  std::size_t size;
  std::unique_ptr<T[], BlockStorage> items;
};

template <class T>
struct KinetoColumn {
  std::vector<KinetoBlock<T>> blocks;
  std::vector<T> current;  // of the current window

  void Close(std::uint32_t window) {
    if (current.empty()) return;
    blocks.emplace_back(window, current);
    current.clear();
  }
};

}  // namespace loopscope
