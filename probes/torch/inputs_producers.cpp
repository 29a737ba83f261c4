#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "probes/torch/inputs.h"
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

// Of parameters, by their address: they outlive the detail window.
class Leaves {
 public:
  std::uint32_t NumberOf(const c10::TensorImpl* tensor) {
    constexpr std::size_t kMost = 1 << 16;
    const std::lock_guard guard(lock_);
    if (const auto known = numbers_.find(tensor); known != numbers_.end()) return known->second;
    if (numbers_.size() == kMost) return 0;
    const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
    numbers_.emplace(tensor, number);
    return number;
  }

 private:
  std::mutex lock_;
  std::unordered_map<const c10::TensorImpl*, std::uint32_t> numbers_;
};

}  // namespace

std::uint32_t LeafNumber(const at::Tensor& tensor) {
  // Never destroyed: threads may record until the very end.
  static Leaves* const leaves = new Leaves;
  const bool leaf =
      tensor.defined() && tensor.requires_grad() && torch::autograd::impl::grad_fn_unsafe(tensor) == nullptr;
  return leaf ? leaves->NumberOf(tensor.unsafeGetTensorImpl()) : 0;
}

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
