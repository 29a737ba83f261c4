#include "profiler/treatments/treatments.h"

#include <algorithm>

#include "profiler/core/seam.h"

#define LOOPSCOPE_SEAM_KIND Treatment
#define LOOPSCOPE_SEAM_DEF "profiler/treatments/treatments.def"
#define LOOPSCOPE_TREATMENT LOOPSCOPE_SEAM_ENTRY
#include "profiler/core/seam_list.inc"
#include "profiler/core/trace/facts.h"

namespace loopscope {

std::span<const Treatment* const> AllTreatments() {
  return kAll;
}

const Treatment* FindTreatment(std::string_view id) {
  return FindById(AllTreatments(), id);
}

bool Cures(const Treatment& treatment, std::string_view rule) {
  return std::ranges::find(treatment.cures, rule) != treatment.cures.end();
}

bool CanApply(const Treatment& treatment, const FactMap& facts, const Knobs& knobs) {
  if (!facts.contains("program.language")) return true;
  const std::string_view language = FactOf(facts, "program.language");
  return std::ranges::any_of(treatment.appliers, [&](std::string_view applier) {
    if (applier == "python") return language == "python";
    return !applier.starts_with("knob:") || knobs.contains(treatment.id);
  });
}

const Treatment* TreatmentFor(std::string_view rule) {
  for (const Treatment* one : AllTreatments()) {
    if (Cures(*one, rule)) return one;
  }
  return nullptr;
}

}  // namespace loopscope
