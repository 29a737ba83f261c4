// The text of an op's inputs, as wire::OpDetailRecord describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace loopscope {

struct TensorText {
  bool is_tensor = false;  // false: a scalar, or something else
  bool defined = false;    // false for "-"
  std::string_view dtype;  // "f32" …
  std::vector<std::int64_t> sizes;
  std::string_view device;  // "" on the CPU, else "cuda:0"
  bool requires_grad = false;
  // Which of the tensors that ask for a gradient and that no operator made, mostly parameters; 0: none, or not known.
  std::uint32_t leaf = 0;
  std::string_view scalar;  // when not a tensor
  std::int64_t elements() const;
  std::int64_t bytes() const;  // 0 for an unknown dtype
};
std::vector<TensorText> ParseInputs(std::string_view inputs);

// How many tokens of a batch are padding, where the op knows (a mask, an embedding's padding index).
struct PaddedTokens {
  std::uint64_t padded = 0, tokens = 0;
};
std::optional<PaddedTokens> ParsePadding(std::string_view inputs);
// The tensors of a list, whose text is an input's `scalar`; empty for anything else and for a truncated list.
std::vector<TensorText> ParseTensorList(std::string_view text);

}  // namespace loopscope
