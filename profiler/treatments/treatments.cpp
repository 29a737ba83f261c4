#include "profiler/treatments/treatments.h"

#include <algorithm>

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

bool Cures(const Treatment& treatment, std::string_view rule) {
  return std::ranges::find(treatment.cures, rule) != treatment.cures.end();
}

const Treatment* TreatmentFor(std::string_view rule) {
  for (const Treatment* one : AllTreatments()) {
    if (Cures(*one, rule)) return one;
  }
  return nullptr;
}

std::string_view ExactnessName(Exactness exactness) {
  switch (exactness) {
    case Exactness::kExact:
      return "exact";
    case Exactness::kExactIf:
      return "exact-if";
    case Exactness::kResampled:
      return "resampled";
    case Exactness::kNumeric:
      return "numeric";
    case Exactness::kChangesTraining:
      return "changes-training";
  }
  return "";
}

}  // namespace loopscope
