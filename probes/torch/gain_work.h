// A convolution or matrix product, by everything that determines its time.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loopscope {

struct Work {
  enum class Call : std::uint8_t { kMm, kAddmm, kBmm, kBaddbmm, kConvolution, kConvolutionBackward };
  // A tensor's layout; without sizes: undefined.
  struct Operand {
    std::vector<std::int64_t> sizes, strides;
    bool operator==(const Operand&) const = default;
  };

  Call call{};
  bool in_backward = false;
  std::vector<Operand> operands;
  // For convolutions. bias_sizes: backward call only.
  std::vector<std::int64_t> stride, padding, dilation, output_padding, bias_sizes;
  bool transposed = false;
  std::int64_t groups = 1;
  std::array<bool, 3> output_mask{};

  bool operator==(const Work&) const = default;
};

// nullopt for any other operator, and where an operand is not a plain float32 tensor on the CPU.
std::optional<Work> WorkOf(const at::RecordFunction& function, bool in_backward);

// Multiplications and additions.
double Operations(const Work& work);

// The same work on less data: the largest dimensions are halved until it takes at most so many operations.
Work ShrunkTo(double operations, Work work);

// "aten::mm f32[64,512];f32[512,512]".
std::string TextOf(const Work& work);

// Tensors for its operands, of numbers between 0 and 1.
std::vector<at::Tensor> OperandsFor(const Work& work);

// Runs it, with operands of any type.
std::vector<at::Tensor> Do(const Work& work, const std::vector<at::Tensor>& operands);

}  // namespace loopscope
