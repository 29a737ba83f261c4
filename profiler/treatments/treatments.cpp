#include "profiler/treatments/treatments.h"

namespace loopscope {

#define LOOPSCOPE_TREATMENT(stem, constant) extern const Treatment constant;
#include "profiler/treatments/treatments.def"
#undef LOOPSCOPE_TREATMENT

std::span<const Treatment* const> AllTreatments() {
  static constexpr const Treatment* kAll[] = {
#define LOOPSCOPE_TREATMENT(stem, constant) &constant,
#include "profiler/treatments/treatments.def"
#undef LOOPSCOPE_TREATMENT
      nullptr};
  return std::span(kAll).first(std::size(kAll) - 1);
}

const Treatment* FindTreatment(std::string_view id) {
  for (const Treatment* one : AllTreatments()) {
    if (one->id == id) return one;
  }
  return nullptr;
}

}  // namespace loopscope
