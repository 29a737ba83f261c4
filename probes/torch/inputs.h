// An op's inputs: as text for the detail window, and as a hash of dtypes and sizes.
#pragma once

#include <ATen/record_function.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "probes/wire.h"

namespace loopscope {

// FNV-1a over the tensor inputs' dtypes and sizes; never 0.
std::uint32_t ShapeHash(const at::RecordFunction& function);

// String id of the text that probes/wire.h describes at OpDetailRecord; 0 when there are no inputs.
std::uint32_t InputsText(const at::RecordFunction& function);

// Records that an op which began at `time_ns` uses the memory of its tensor inputs, including those in lists.
void NoteUse(const at::RecordFunction& function, std::uint64_t time_ns);

// How much of a batch is padding, read from an operator that receives it: a mask, or an embedding with a padding index.
struct Padding {
  std::uint64_t padded = 0, tokens = 0;  // tokens is 0 where it is unknown
};

// From the inputs of `name`: "aten::embedding" with a padding index, "aten::masked_fill",
// "aten::scaled_dot_product_attention". On the CPU only: reading a device's memory would mean waiting for it.
Padding PaddingOf(std::string_view name, const at::RecordFunction& function);

// The graph nodes that made an op's inputs.

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
