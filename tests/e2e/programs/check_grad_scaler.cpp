// Prints the effect of the training programs' scaler on gradients, for a test.
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <limits>

#include "workloads/common/grad_scaler.h"

using loopscope::train::GradScaler;

namespace {

// One step whose loss is the parameter's sum times `slope`.
void Step(GradScaler& scaler, at::Tensor& parameter, double slope) {
  parameter.mutable_grad() = at::Tensor();
  scaler.Scale(parameter.mul(slope).sum()).backward();
  const double scaled = parameter.grad()[0].item<double>();
  const bool finite = scaler.Unscale({parameter});
  fmt::print("{} {} {} {}\n", scaled, finite, finite ? parameter.grad()[0].item<double>() : 0, scaler.scale());
}

}  // namespace

int main() {
  GradScaler scaler(at::kCPU, /*growth_interval=*/2);
  at::Tensor parameter = at::ones({4}).requires_grad_();
  Step(scaler, parameter, 3);
  Step(scaler, parameter, 0.5);
  Step(scaler, parameter, std::numeric_limits<double>::infinity());
  Step(scaler, parameter, 3);
}
