#include "profiler/core/report/trial.h"

#include <array>

namespace loopscope {
namespace {

// In the order of the enums.
constexpr std::array<std::string_view, 10> kTrialVerdicts = {
    "",        "faster", "slower", "equivalent", "inconclusive", "different-training", "not-applicable",
    "dropped", "failed", "useful"};
constexpr std::array<std::string_view, 7> kLossVerdicts = {
    "",          "bit-identical", "same samples", "within rounding", "within the baseline's own spread",
    "different", "cannot tell"};

}  // namespace

std::string_view TrialVerdictName(TrialVerdict verdict) {
  return kTrialVerdicts.at(static_cast<std::size_t>(verdict));
}

std::string_view LossVerdictName(LossVerdict verdict) {
  return kLossVerdicts.at(static_cast<std::size_t>(verdict));
}

std::string LossText(const LossFacts& loss) {
  const std::string name(LossVerdictName(loss.verdict));
  if (name.empty() || loss.detail.empty()) return name + loss.detail;
  return name + ": " + loss.detail;
}

void SetLossText(std::string_view text, LossFacts& loss) {
  const std::size_t colon = text.find(": ");
  for (std::size_t i = 1; i < kLossVerdicts.size(); ++i) {
    if (text.substr(0, colon) != kLossVerdicts[i]) continue;
    loss.verdict = static_cast<LossVerdict>(i);
    loss.detail = colon == text.npos ? "" : text.substr(colon + 2);
    return;
  }
  loss.verdict = LossVerdict::kUnjudged;
  loss.detail = text;
}

}  // namespace loopscope
