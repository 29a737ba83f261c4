// What a thread's step was spent on so far, by category of range.
#pragma once

#include <array>
#include <cstdint>

#include "probes/wire.h"

namespace loopscope {

class StepSums {
 public:
  using Sums = std::array<float, wire::kStepSums>;

  // A range of this thread ended. They come as they end: one that holds the one before it replaces it.
  void Add(wire::RangeCategory category, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
    const int place = wire::StepSumOf(category);
    if (place < 0) return;
    Last& last = last_[static_cast<std::size_t>(place)];
    float& sum = sums_[static_cast<std::size_t>(place)];
    const auto length_ns = static_cast<float>(end_ns - begin_ns);
    sum += begin_ns <= last.begin_ns ? length_ns - last.length_ns : length_ns;
    last = {begin_ns, length_ns};
  }

  // The step ended at `end_ns`. Returns its sums, and whether they are of this step alone: the one before, which ended
  // at `begin_ns`, was taken here too.
  struct Taken {
    Sums ns{};
    bool whole = false;
  };
  Taken Take(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
    const Taken taken{sums_, begin_ns != 0 && begin_ns == since_ns_};
    sums_ = {};
    last_ = {};
    since_ns_ = end_ns;
    return taken;
  }

 private:
  struct Last {
    std::uint64_t begin_ns = UINT64_MAX;
    float length_ns = 0;
  };
  Sums sums_{};
  std::array<Last, wire::kStepSums> last_{};
  std::uint64_t since_ns_ = 0;
};

}  // namespace loopscope
