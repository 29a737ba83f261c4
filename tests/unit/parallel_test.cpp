#include "profiler/core/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace loopscope {
namespace {

TEST(ParallelFor, VisitsEachIndexOnce) {
  for (const std::size_t threads : {0u, 1u, 2u, 8u}) {
    for (const std::size_t count : {0u, 1u, 3u, 1000u}) {
      std::vector<int> visits(count);
      ParallelFor(count, threads, [&](std::size_t i) { ++visits[i]; });
      EXPECT_THAT(visits, testing::Each(1)) << count << " on " << threads;
    }
  }
}

TEST(ParallelFor, StartsNoMoreThreadsThanThereIsWork) {
  std::vector<std::thread::id> by(1);
  ParallelFor(by.size(), 8, [&](std::size_t i) { by[i] = std::this_thread::get_id(); });
  EXPECT_EQ(by[0], std::this_thread::get_id());
}

// Two pieces of work that wait for each other end only where both run at once.
TEST(ParallelFor, RunsOnSeveralThreads) {
  std::atomic<int> arrived{0};
  ParallelFor(2, 2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

}  // namespace
}  // namespace loopscope
