// How much of a batch is padding, read from an operator that receives it: a mask, or an embedding with a padding index.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <string_view>

namespace loopscope {

struct Padding {
  std::uint64_t padded = 0, tokens = 0;  // tokens is 0 where it is unknown
};

// From the inputs of `name`: "aten::embedding" with a padding index, "aten::masked_fill",
// "aten::scaled_dot_product_attention". On the CPU only: reading a device's memory would mean waiting for it.
Padding PaddingOf(std::string_view name, const at::RecordFunction& function);

}  // namespace loopscope
