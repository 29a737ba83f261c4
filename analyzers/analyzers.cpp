#include "analyzers/analyzers.h"

#define LOOPSCOPE_SEAM_KIND Analyzer
#define LOOPSCOPE_SEAM_DEF "analyzers/analyzers.def"
#define LOOPSCOPE_ANALYZER LOOPSCOPE_SEAM_ENTRY
#include "profiler/core/seam_list.inc"

namespace loopscope {

std::span<const Analyzer* const> AllAnalyzers() {
  return kAll;
}

}  // namespace loopscope
