// How much arithmetic and memory traffic the result of an operator takes, from the shapes and types of its inputs.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "profiler/core/trace/inputs.h"

namespace loopscope {

// Multiplications and additions count one each; each input is read once and each output written once, whatever an
// implementation does. So does torch.utils.flop_counter count products and convolutions.
struct OperatorCost {
  double flops = 0, bytes = 0;
  std::string_view dtype;  // of the arithmetic: that of the first tensor; "" where there is none
  bool product = false;    // a product, a convolution or attention: what runs on the units that a peak is stated for
};

// `op` as at::RecordFunction and Kineto name it ("aten::mm"); inputs in the order of its schema. nullopt: no formula is
// known for it, or its inputs are not what the formula asks for. No work at all for operators that only make a view.
std::optional<OperatorCost> CostOf(std::string_view op, std::span<const TensorText> inputs);

}  // namespace loopscope
