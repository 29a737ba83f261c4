// The source of random choices about single samples (augmentation, dropped words).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "probes/environment.h"
#include "workloads/common/random.h"

namespace loopscope::train {

// By default all threads share one sequence, so that with several workers the draws depend on which comes first; with
// `by_sample` they depend on seed, epoch and sample alone.
struct Draws {
  std::uint64_t seed = 0;
  bool by_sample = false;
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::uint64_t> next{0};

  std::uint64_t Key(std::size_t sample) { return by_sample ? Hash(seed, epoch, sample) : Hash(seed, next++); }
};

inline std::shared_ptr<Draws> MakeDraws(int seed) {
  auto draws = std::make_shared<Draws>();
  const char* mode = std::getenv(env::kSampleRng);
  draws->seed = static_cast<std::uint64_t>(seed);
  draws->by_sample = mode != nullptr && std::string_view(mode) == "hash";
  return draws;
}

}  // namespace loopscope::train
