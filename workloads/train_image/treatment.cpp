#include "workloads/train_image/treatment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "probes/environment.h"
#include "probes/loopscope.h"

namespace loopscope::train_image {
namespace {

// Why the knob has no effect with these settings, if so.
std::optional<std::string> Idle(const Settings& settings, std::string_view key) {
  if (settings.workers == 0 && (key == "loader.prefetch" || key == "loader.persistent")) {
    return "the loader has no workers";
  }
  if (settings.norm == "none" && key == "bias.before_norm") return "the model has no batch norm";
  if (settings.clip == "none" && key.starts_with("clip.")) return "gradients are not clipped";
  if (settings.schedule == "constant" && key == "schedule.epochs") return "the learning rate is constant";
  return std::nullopt;
}

void ApplyItem(Settings& settings, std::string_view item, std::vector<TreatedKnob>& treated) {
  const std::string key(item.substr(0, item.find('=')));
  const Knob* knob = FindKnob(key);
  if (!knob) return NotApplicable(key.c_str(), "train_image has no such knob");
  const auto value = loopscope::Knob(key);
  const std::string before = ValueOf(settings, *knob);
  Settings changed = settings;
  auto error = Assign(changed, *knob, value.value_or(""));
  if (!error) error = Conflict(changed);
  if (error) return NotApplicable(key.c_str(), error->c_str());
  settings = changed;
  treated.push_back({knob, before});
}

}  // namespace

std::vector<TreatedKnob> ApplyTreatment(Settings& settings) {
  std::vector<TreatedKnob> treated;
  const char* treatment = std::getenv(env::kTreatment);
  std::string_view rest = treatment ? treatment : "";
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (!item.empty()) ApplyItem(settings, item, treated);
  }
  return treated;
}

void ReportTreatment(const std::vector<TreatedKnob>& treated, const Settings& settings, const InEffect& in_effect) {
  for (const auto& [knob, before] : treated) {
    const std::string key(knob->key);
    const auto read = in_effect.find(key);
    const std::string now = read != in_effect.end() ? read->second : ValueOf(settings, *knob);
    if (const auto reason = Idle(settings, key)) {
      NotApplicable(key.c_str(), reason->c_str());
    } else if (now == before) {
      NotApplicable(key.c_str(), fmt::format("it is {} already", now).c_str());
    } else {
      Applied(key.c_str(), fmt::format("workloads/train_image/{}", knob->place).c_str(), before.c_str(), now.c_str());
    }
  }
}

}  // namespace loopscope::train_image
