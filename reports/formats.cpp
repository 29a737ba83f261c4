#include "reports/formats.h"

#include "profiler/core/seam.h"

#define LOOPSCOPE_SEAM_KIND Format
#define LOOPSCOPE_SEAM_DEF "reports/formats.def"
#define LOOPSCOPE_FORMAT LOOPSCOPE_SEAM_ENTRY
#include "profiler/core/seam_list.inc"

namespace loopscope {

std::span<const Format* const> AllFormats() {
  return kAll;
}

const Format* FindFormat(std::string_view id) {
  return FindById(AllFormats(), id);
}

}  // namespace loopscope
