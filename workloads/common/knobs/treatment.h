// Knobs that LOOPSCOPE_TREATMENT asks for: applied over presets and --set, and reported back once they are in effect.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workloads/common/knobs/knobs.h"

namespace loopscope::train {

// A knob that the treatment has changed, and its value before.
struct TreatedKnob {
  const Knob* knob;
  std::string before;
};

// Values read back from where they act, by key; missing keys act as set.
using InEffect = std::map<std::string, std::string, std::less<>>;

// Applies the requested treatment. Reports items that cannot be applied as not applicable, with the reason.
std::vector<TreatedKnob> ApplyTreatment(const Knobs& knobs);

// Reports each treated knob: applied with the value read back, or not applicable when that has not changed.
void ReportTreatment(const std::vector<TreatedKnob>& treated, const Knobs& knobs, const InEffect& in_effect);

}  // namespace loopscope::train
