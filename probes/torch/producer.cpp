// The only file that needs autograd's nodes.
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "probes/torch/inputs.h"
#include "probes/wire.h"

namespace loopscope {

std::uint32_t Producer(const at::RecordFunction& function) {
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    // The unsafe form: asking a view for its grad_fn may build one.
    const torch::autograd::Node* node = torch::autograd::impl::grad_fn_unsafe(input.toTensor());
    return node != nullptr ? static_cast<std::uint32_t>(node->sequence_nr()) : wire::kNoSequence;
  }
  return wire::kNoSequence;
}

}  // namespace loopscope
