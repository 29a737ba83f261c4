// Gradient scaling for 16-bit floats with a narrow exponent (Micikevicius et al., arXiv 1710.03740): the loss is
// multiplied before backward, the gradients are divided before the optimizer's step, and a step whose gradients
// overflowed is skipped. The numbers are those of torch.amp.GradScaler.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace loopscope::train {

class GradScaler {
 public:
  static constexpr double kFirstScale = 65536;
  static constexpr double kGrowth = 2, kBackoff = 0.5;
  static constexpr int kGrowthInterval = 2000;  // good steps between growths

  explicit GradScaler(c10::Device device, int growth_interval = kGrowthInterval);

  at::Tensor Scale(const at::Tensor& loss) const { return loss.mul(scale_); }

  // Divides the parameters' gradients by the scale and adapts it. False when one of them was not finite: the step must
  // be skipped. Waits for the device.
  bool Unscale(const std::vector<at::Tensor>& parameters);

  double scale() const;

 private:
  int growth_interval_;
  at::Tensor scale_, good_steps_, overflowed_;  // on the device
};

}  // namespace loopscope::train
