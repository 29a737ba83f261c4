#include "probes/torch/producer.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

#include "probes/wire.h"

namespace loopscope {
namespace {

std::uint32_t SequenceOf(const at::Tensor& tensor) {
  // The unsafe form: asking a view for its grad_fn may build one.
  const torch::autograd::Node* node = tensor.defined() ? torch::autograd::impl::grad_fn_unsafe(tensor) : nullptr;
  return node != nullptr ? static_cast<std::uint32_t>(node->sequence_nr()) : wire::kNoSequence;
}

void AddFurther(const at::Tensor& tensor, Producers& producers) {
  const std::uint32_t sequence = SequenceOf(tensor);
  if (sequence == wire::kNoSequence || sequence == producers.first) return;
  const auto end = producers.further.begin() + producers.further_count;
  if (end == producers.further.end() || std::ranges::find(producers.further.begin(), end, sequence) != end) return;
  producers.further[producers.further_count++] = sequence;
}

}  // namespace

void TakeProducers(const at::RecordFunction& function, Producers& producers) {
  producers.first = wire::kNoSequence;
  producers.further_count = 0;
  const auto plain = [](const c10::IValue& input) { return input.isTensor() && input.toTensor().defined(); };
  const auto inputs = function.inputs();
  const auto first = std::ranges::find_if(inputs, plain);
  if (first != inputs.end()) producers.first = SequenceOf(first->toTensor());
  for (const c10::IValue& input : inputs) {
    if (plain(input)) AddFurther(input.toTensor(), producers);
    if (!input.isList()) continue;
    for (const c10::IValue& element : input.toListRef()) {
      if (plain(element)) AddFurther(element.toTensor(), producers);
    }
  }
}

}  // namespace loopscope
