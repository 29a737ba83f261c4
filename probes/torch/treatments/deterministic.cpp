// deterministic=off: neither LibTorch nor cuDNN is held to deterministic algorithms.
#include <ATen/Context.h>

#include "probes/torch/applier.h"

namespace loopscope {
namespace {

std::string RefusalOfDeterministic(std::string_view value) {
  return value == "off" ? "" : "only deterministic=off can be applied from outside";
}
// The program's own settings, for launches that switch back and forth.
struct Own {
  bool algorithms = false, warns_only = false, cudnn = false;
} own;

std::string ReadDeterministic() {
  return at::globalContext().deterministicAlgorithms() || at::globalContext().deterministicCuDNN() ? "on" : "off";
}
void WriteDeterministic(std::string_view value) {
  at::Context& context = at::globalContext();
  if (value == "on") {
    context.setDeterministicAlgorithms(own.algorithms, own.warns_only);
    context.setDeterministicCuDNN(own.cudnn);
    return;
  }
  own = {context.deterministicAlgorithms(), context.deterministicAlgorithmsWarnOnly(), context.deterministicCuDNN()};
  context.setDeterministicAlgorithms(false, false);
  context.setDeterministicCuDNN(false);
}

}  // namespace

extern const Applier kDeterministic{"deterministic",
                                    "at::globalContext().deterministicAlgorithms, deterministicCuDNN",
                                    RefusalOfDeterministic,
                                    ReadDeterministic,
                                    WriteDeterministic,
                                    nullptr,
                                    nullptr};

}  // namespace loopscope
