// The data set: texts made of numbers, drawn from their index alone, so that they are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/train_text/settings.h"

namespace loopscope::train::text {

inline constexpr int kClasses = 8;
inline constexpr std::int64_t kPaddingToken = 0;

enum class Part { kTrain, kValidation };

// A text's class is its topic and its voice. Each of four topics has words of its own, which come in pairs; the voice
// decides which word of a pair comes first. Single words of other topics are mixed in.
class Texts {
 public:
  Texts(Part part, const Settings& settings);

  std::size_t size() const { return size_; }
  int label(std::size_t index) const { return static_cast<int>(index % kClasses); }

  // How many tokens a text has, the cut at seq.max_len included. Most texts are short and a few are long: the
  // square of a uniform number spreads them between the shortest and the longest.
  int length(std::size_t index) const;

  // Writes the length(index) tokens of a text.
  void Write(std::size_t index, std::int64_t* tokens) const;

 private:
  int FullLength(std::size_t index) const;

  Part part_;
  std::size_t size_;
  int vocabulary_, longest_, max_len_;
};

}  // namespace loopscope::train::text
