// How much of a batch is padding, read off an operator that is told: a mask, or an embedding with a padding index.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <string_view>

namespace loopscope {

struct Padding {
  std::uint64_t padded = 0, tokens = 0;  // tokens is 0 where nothing tells
};

// Of what `name` is called with: "aten::embedding" with a padding index, "aten::masked_fill",
// "aten::scaled_dot_product_attention". Looked at on the CPU only: a device's memory would have to be waited for.
Padding PaddingOf(std::string_view name, const at::RecordFunction& function);

}  // namespace loopscope
