// The convolutions of the steady steps on a device: what they cost, and whether their shapes had occurred before.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/shared/evidence.h"

namespace loopscope {

struct Convolution {
  EventRef op;
  double ms = 0;           // see OpCost
  bool new_shape = false;  // no earlier step, warm-up included, had one of these shapes and dtypes
  std::uint32_t step = 0;  // index into Timeline::steady()
};

struct Convolutions {
  std::vector<Convolution> calls;      // outermost, forward and backward, in the order of time by thread
  bool shapes_known = false;           // for any of them; else new_shape means nothing
  std::size_t shapes = 0;              // different ones in the steady steps
  std::size_t shapes_of_one_step = 0;  // the most in one step
  std::size_t steps_with_new = 0;      // steady steps with a new shape
  double ms() const;
  CallSites Sites(const Timeline& timeline) const;
};

Convolutions ConvolutionsOf(const Timeline& timeline);

}  // namespace loopscope
