#include "workloads/common/weights_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>

namespace loopscope::train {

void PrintWeights(const std::vector<torch::Tensor>& parameters, int most) {
  std::string text = "weights";
  for (const torch::Tensor& parameter : parameters) {
    const torch::Tensor flat = parameter.detach().contiguous().flatten();
    const int shown = static_cast<int>(std::min<std::int64_t>(most, flat.numel()));
    for (int i = 0; i < shown; ++i) {
      fmt::format_to(std::back_inserter(text), " {:.3f}", flat.const_data_ptr<float>()[i]);
    }
    most -= shown;
  }
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace loopscope::train
