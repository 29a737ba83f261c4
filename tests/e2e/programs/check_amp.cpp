// Takes amp=bf16 through the moments of training steps on one device after the other, and prints where autocast was on.
#include <torch/torch.h>

#include <cstdio>
#include <optional>
#include <string>

#include "probes/torch/applier.h"
#include "probes/torch/autocast.h"
#include "probes/torch/training.h"

namespace loopscope {

// The device of the optimizer's parameters, set by the test.
std::optional<c10::DeviceType> trained;
std::optional<c10::DeviceType> TrainedDevice() noexcept {
  return trained;
}

extern const Applier kAmp;

}  // namespace loopscope

namespace {

using loopscope::kAmp, loopscope::Moment;

std::string OnDevices() {
  std::string on;
  for (const c10::DeviceType device : {at::kCPU, at::kCUDA}) {
    if (!at::autocast::is_autocast_enabled(device)) continue;
    const bool bf16 = at::autocast::get_autocast_dtype(device) == at::kBFloat16;
    on += c10::DeviceTypeName(device, true) + (bf16 ? ":bf16 " : ":other ");
  }
  return on.empty() ? "nowhere " : on;
}

void Step(std::optional<c10::DeviceType> device) {
  loopscope::trained = device;
  kAmp.at(Moment::kBatchBegin, "bf16");
  const std::string forward = OnDevices();
  kAmp.at(Moment::kBackwardBegin, "bf16");
  std::printf("%sthen %s%llu\n", forward.c_str(), OnDevices().c_str(), static_cast<unsigned long long>(kAmp.times()));
}

}  // namespace

int main() {
  Step(at::kXLA);
  std::printf("%s\n", kAmp.read().c_str());
  Step(at::kCUDA);
  Step(at::kCPU);
  std::printf("%s\n", kAmp.read().c_str());
  at::autocast::set_autocast_enabled(at::kCUDA, true);  // the program's own
  Step(at::kCUDA);
}
