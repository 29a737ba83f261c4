#include "workloads/common/knobs/treatment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "probes/environment.h"
#include "probes/loopscope.h"

namespace loopscope::train {
namespace {

void ApplySetting(const Knobs& knobs, const std::string& key, std::vector<TreatedKnob>& treated) {
  const Knob* knob = knobs.Find(key);
  if (knob == nullptr) return NotApplicable(key.c_str(), "the program has no such knob");
  const auto value = loopscope::Knob(key);
  const std::string before = ValueOf(*knob);
  auto error = knobs.Assign(*knob, value.value_or(""));
  if (!error && (error = knobs.Conflict())) knobs.Assign(*knob, before);
  if (error) return NotApplicable(key.c_str(), error->c_str());
  treated.push_back({knob, before});
}

}  // namespace

std::vector<TreatedKnob> ApplyTreatment(const Knobs& knobs) {
  // Also without a requested value: asking offers the knob, and `prove` tries offered knobs.
  for (const Knob& one : knobs.all()) loopscope::Knob(one.key);
  std::vector<TreatedKnob> treated;
  const char* treatment = std::getenv(env::kTreatment);
  env::ForEachSetting(treatment != nullptr ? treatment : "",
                      [&](std::string_view key, std::string_view) { ApplySetting(knobs, std::string(key), treated); });
  return treated;
}

void ReportTreatment(const std::vector<TreatedKnob>& treated, const Knobs& knobs, const InEffect& in_effect) {
  for (const auto& [knob, before] : treated) {
    const std::string key(knob->key);
    const auto read = in_effect.find(key);
    const std::string now = read != in_effect.end() ? read->second : ValueOf(*knob);
    if (const auto reason = knobs.Idle(key)) {
      NotApplicable(key.c_str(), reason->c_str());
    } else if (now == before) {
      // Nothing was changed, and the requested value is in effect.
      Applied(key.c_str(), fmt::format("workloads/{}", knob->place).c_str(), now.c_str(), now.c_str());
    } else {
      Applied(key.c_str(), fmt::format("workloads/{}", knob->place).c_str(), before.c_str(), now.c_str());
    }
  }
}

}  // namespace loopscope::train
