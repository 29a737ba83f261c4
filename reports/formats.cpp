#include "reports/formats.h"

namespace loopscope {

#define LOOPSCOPE_FORMAT(stem, constant) extern const Format constant;
#include "reports/formats.def"
#undef LOOPSCOPE_FORMAT

std::span<const Format* const> AllFormats() {
  static constexpr const Format* kAll[] = {
#define LOOPSCOPE_FORMAT(stem, constant) &constant,
#include "reports/formats.def"
#undef LOOPSCOPE_FORMAT
      nullptr};
  return std::span(kAll).first(std::size(kAll) - 1);
}

const Format* FindFormat(std::string_view id) {
  for (const Format* one : AllFormats()) {
    if (one->id == id) return one;
  }
  return nullptr;
}

}  // namespace loopscope
