#include "profiler/importers/capture/forms_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>

#include "profiler/core/file_text.h"
#include "profiler/core/json_members.h"

namespace loopscope {
namespace {

namespace members = json_members;

MeasuredGain GainFrom(const nlohmann::json& item) {
  MeasuredGain gain;
  gain.change = members::Text(item, "change");
  gain.work = members::Text(item, "work");
  gain.count = 1;
  gain.before_ns = members::Whole<std::int64_t>(item, "before_ns");
  gain.after_ns = members::Whole<std::int64_t>(item, "after_ns");
  gain.ratio_low = members::Number(item, "ratio_low").value_or(0);
  gain.ratio_high = members::Number(item, "ratio_high").value_or(0);
  return gain;
}

}  // namespace

std::vector<MeasuredGain> ReadFormsJson(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMost = 16 << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > kMost) return {};
  const auto json = nlohmann::json::parse(FileHead(path, kMost).value_or(""), nullptr, false);
  std::vector<MeasuredGain> gains;
  try {
    if (!json.is_object() || members::Text(json, "schema") != "loopscope.forms/1") return {};
    for (const nlohmann::json& item : members::Items(json, "trials")) {
      MeasuredGain gain = GainFrom(item);
      if (gain.before_ns > 0 && gain.after_ns > 0) gains.push_back(std::move(gain));
    }
  } catch (const nlohmann::json::exception&) {
    // What was read before the damage counts.
  }
  return gains;
}

}  // namespace loopscope
