#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {};  // the user knows how much can be cut: --only seq.max_len=64
}

}  // namespace

extern const Treatment kSeqMaxLen{
    .id = "seq.max_len",
    .summary = "cut texts after N tokens",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
