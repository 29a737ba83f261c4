#include "workloads/common/grad_scaler.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

namespace loopscope::train {

GradScaler::GradScaler(c10::Device device, int growth_interval)
    : growth_interval_(growth_interval),
      scale_(at::full({}, kFirstScale, at::TensorOptions(device).dtype(at::kFloat))),
      good_steps_(at::zeros({}, at::TensorOptions(device).dtype(at::kInt))),
      overflowed_(at::zeros({}, at::TensorOptions(device).dtype(at::kFloat))) {}

bool GradScaler::Unscale(const std::vector<at::Tensor>& parameters) {
  const c10::AutoGradMode no_grad(false);
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  overflowed_.zero_();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, overflowed_, scale_.reciprocal());
  at::_amp_update_scale_(scale_, good_steps_, overflowed_, kGrowth, kBackoff, growth_interval_);
  return overflowed_.item<float>() == 0;
}

double GradScaler::scale() const {
  return scale_.item<double>();
}

}  // namespace loopscope::train
