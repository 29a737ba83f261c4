// deterministic=off: neither LibTorch nor cuDNN is held to deterministic algorithms.
#include <ATen/Context.h>

#include "probes/torch/applier.h"

namespace loopscope {
namespace {

std::string Refusal(std::string_view value) {
  return value == "off" ? "" : "only deterministic=off can be applied from outside";
}
std::string Read() {
  return at::globalContext().deterministicAlgorithms() || at::globalContext().deterministicCuDNN() ? "on" : "off";
}
void Write(std::string_view) {
  at::globalContext().setDeterministicAlgorithms(false, false);
  at::globalContext().setDeterministicCuDNN(false);
}

}  // namespace

extern const Applier kDeterministic;
const Applier kDeterministic{
    "deterministic", "at::globalContext().deterministicAlgorithms, deterministicCuDNN", Refusal, Read, Write, nullptr};

}  // namespace loopscope
