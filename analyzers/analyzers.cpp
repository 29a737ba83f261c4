#include "analyzers/analyzers.h"

namespace loopscope {

#define LOOPSCOPE_ANALYZER(stem, constant) extern const Analyzer constant;
#include "analyzers/analyzers.def"
#undef LOOPSCOPE_ANALYZER

std::span<const Analyzer* const> AllAnalyzers() {
  static constexpr const Analyzer* kAll[] = {
#define LOOPSCOPE_ANALYZER(stem, constant) &constant,
#include "analyzers/analyzers.def"
#undef LOOPSCOPE_ANALYZER
      nullptr};
  return std::span(kAll).first(std::size(kAll) - 1);
}

const Analyzer* FindAnalyzer(std::string_view id) {
  for (const Analyzer* one : AllAnalyzers()) {
    if (one->id == id) return one;
  }
  return nullptr;
}

}  // namespace loopscope
