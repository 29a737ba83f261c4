// debug=off: autograd's anomaly mode is kept off, also when the program sets it again.
#include <torch/csrc/autograd/anomaly_mode.h>

#include "probes/torch/applier.h"

namespace loopscope {
namespace {

using torch::autograd::AnomalyMode;

std::string RefusalOfDebug(std::string_view value) {
  return value == "off" ? "" : "only debug=off can be applied from outside";
}
std::string ReadDebug() {
  return AnomalyMode::is_enabled() ? "on" : "off";
}
void WriteDebug(std::string_view value) {
  AnomalyMode::set_enabled(value == "on");
}

}  // namespace

extern const Applier kDebug{"debug", "torch::autograd::AnomalyMode", RefusalOfDebug, ReadDebug, WriteDebug, nullptr,
                            nullptr};

}  // namespace loopscope
