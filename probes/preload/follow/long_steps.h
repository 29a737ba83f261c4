// Detects steps that are much longer than the others, and predicts the next one. Has no clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace loopscope {

class LongSteps {
 public:
  // A step this much longer than the median of those before holds other work.
  static constexpr double kLong = 1.2;

  enum class Kind {
    kUsual,
    kByChance,  // long, but others are repeatedly many times as long
    kLong,
    kFirstOfMany,  // long; earlier ones were long by chance
  };

  // Step `number`, from 1, took this long without the cost of following it.
  Kind Add(std::uint64_t number, std::uint64_t own_ns) {
    if (!knows_median() || static_cast<double>(own_ns) <= kLong * static_cast<double>(median_ns_)) {
      Keep(own_ns);
      return Kind::kUsual;
    }
    // The longest of all may itself have been a hiccup: the second counts.
    const std::uint64_t second_ns = longest_[1].ns;
    const Long one{own_ns, number};
    if (own_ns > longest_[0].ns) {
      longest_ = {one, longest_[0]};
    } else if (own_ns > second_ns) {
      longest_[1] = one;
    }
    if (2 * own_ns < longest_[1].ns) return Kind::kByChance;
    const bool first_of_many = longest_[1].ns > 2 * second_ns;
    if (first_of_many) last_ = std::min(longest_[0].number, longest_[1].number);
    if (last_ > 0) distance_ = number - last_;
    last_ = number;
    return first_of_many ? Kind::kFirstOfMany : Kind::kLong;
  }

  // Whether this step is at the same distance, +-1, from the last long one as that was from the one before.
  bool Expects(std::uint64_t number) const {
    if (distance_ == 0) return false;
    const std::uint64_t since = number - last_;
    return since + 1 >= distance_ && since <= distance_ + 1;
  }

  bool knows_median() const { return count_ >= 5; }
  std::uint64_t median_ns() const { return median_ns_; }  // lengths of the last usual steps

 private:
  static constexpr std::size_t kKept = 15;
  struct Long {
    std::uint64_t ns = 0, number = 0;
  };

  void Keep(std::uint64_t own_ns) {
    lengths_[count_++ % kKept] = own_ns;
    std::array<std::uint64_t, kKept> sorted = lengths_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kKept));
    const auto middle = sorted.begin() + (end - sorted.begin()) / 2;
    std::nth_element(sorted.begin(), middle, end);
    median_ns_ = *middle;
  }

  std::array<std::uint64_t, kKept> lengths_{};
  std::size_t count_ = 0;
  std::uint64_t median_ns_ = 0;
  std::array<Long, 2> longest_{};          // longest first
  std::uint64_t last_ = 0, distance_ = 0;  // of long ones, in steps; 0: none yet
};

}  // namespace loopscope
