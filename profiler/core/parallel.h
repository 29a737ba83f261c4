// Runs work on several threads at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace loopscope {

// Calls work(i) once for each i below `count`, on up to `threads` threads of which the caller's is one, and returns
// when all are done. `work` must not throw.
template <class Work>
void ParallelFor(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (std::size_t n = 1; n < std::min(threads, count); ++n) others.emplace_back(take);
  take();
  for (std::thread& other : others) other.join();
}

}  // namespace loopscope
