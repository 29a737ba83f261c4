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
void TakeProducers(const at::RecordFunction& function, Producers& producers);

}  // namespace loopscope
