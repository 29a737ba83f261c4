#include "analyzers/shared/tensors.h"

namespace loopscope {

std::vector<TensorText> TensorsOf(std::string_view inputs) {
  std::vector<TensorText> tensors;
  for (const TensorText& input : ParseInputs(inputs)) {
    if (input.is_tensor) tensors.push_back(input);
    const std::vector<TensorText> list = ParseTensorList(input.scalar);
    tensors.insert(tensors.end(), list.begin(), list.end());
  }
  return tensors;
}

}  // namespace loopscope
