// The graph nodes that made an op's inputs.
#pragma once

#include <ATen/record_function.h>

#include <array>
#include <cstdint>

#include "probes/wire.h"

namespace loopscope {

// Autograd sequence numbers of the tensor inputs' grad_fns, as wire::OpDetailRecord has them.
struct Producers {
  std::uint32_t first, further_count;
  std::array<std::uint32_t, wire::kMaxFurtherProducers> further;
};

// The number of a tensor that asks for a gradient and that no operator made: the same whenever it is met. 0 for any
// other tensor, and once there are too many.
std::uint32_t LeafNumber(const at::Tensor& tensor);

void TakeProducers(const at::RecordFunction& function, Producers& producers);

}  // namespace loopscope
