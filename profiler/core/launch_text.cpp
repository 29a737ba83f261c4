#include "profiler/core/launch_text.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace loopscope {
namespace {

using Json = nlohmann::json;

// As bits: a loss may be NaN, which JSON cannot represent.
std::vector<std::uint64_t> Bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits;
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

std::vector<double> Doubles(const std::vector<std::uint64_t>& bits) {
  std::vector<double> values;
  for (const std::uint64_t one : bits) values.push_back(std::bit_cast<double>(one));
  return values;
}

Json ToJson(const LaunchResult& result) {
  Json applied = Json::array(), metrics = Json::array();
  for (const Applied& one : result.applied) {
    applied.push_back({one.key, one.where, one.old_value, one.new_value, one.flags});
  }
  Json live = Json::array();
  for (const LiveBlock& block : result.live) live.push_back({block.on, block.acted, block.step_ms});
  for (const auto& [name, value] : result.metrics) metrics.push_back({name, std::bit_cast<std::uint64_t>(value)});
  return {{"status", result.status.Text()},
          {"tail", result.tail},
          {"exit_status", result.exit_status},
          {"clock", result.clock},
          {"ms_per_step", result.ms_per_step},
          {"ms_per_sample", result.ms_per_sample},
          {"steps", result.steps},
          {"epoch_ms", result.epoch_ms ? Json(*result.epoch_ms) : Json(nullptr)},
          {"steps_per_epoch", result.steps_per_epoch},
          {"run_ahead", result.run_ahead},
          {"startup_s", result.startup_s},
          {"settled_after", result.settled_after},
          {"step_drift", result.step_drift},
          {"wall_s", result.wall_s},
          {"peak_bytes", result.peak_bytes},
          {"applied", applied},
          {"losses", Bits(result.losses)},
          {"sample_hashes", result.sample_hashes},
          {"metrics", metrics},
          {"target_s", result.target_s ? Json(*result.target_s) : Json(nullptr)},
          {"steps_seen", result.steps_seen},
          {"samples_seen", result.samples_seen},
          {"best_metric", result.best_metric ? Json(*result.best_metric) : Json(nullptr)},
          {"live", live},
          {"directory", result.directory}};
}

LaunchResult FromJson(const Json& json) {
  LaunchResult result;
  result.status = LaunchStatus::Of(json.at("status").get<std::string>());
  result.tail = json.at("tail");
  result.exit_status = json.at("exit_status");
  result.clock = json.at("clock");
  result.ms_per_step = json.at("ms_per_step");
  result.ms_per_sample = json.at("ms_per_sample");
  result.steps = json.at("steps");
  if (!json.at("epoch_ms").is_null()) result.epoch_ms = json.at("epoch_ms").get<double>();
  result.steps_per_epoch = json.at("steps_per_epoch");
  result.run_ahead = json.at("run_ahead");
  result.startup_s = json.at("startup_s");
  result.settled_after = json.at("settled_after");
  result.step_drift = json.at("step_drift");
  result.wall_s = json.at("wall_s");
  result.peak_bytes = json.at("peak_bytes");
  for (const Json& one : json.at("applied")) {
    result.applied.push_back({one.at(0), one.at(1), one.at(2), one.at(3), one.at(4)});
  }
  result.losses = Doubles(json.at("losses"));
  result.sample_hashes = json.at("sample_hashes").get<std::vector<std::uint64_t>>();
  for (const Json& one : json.at("metrics")) {
    result.metrics.emplace_back(one.at(0), std::bit_cast<double>(one.at(1).get<std::uint64_t>()));
  }
  if (!json.at("target_s").is_null()) result.target_s = json.at("target_s").get<double>();
  result.steps_seen = json.at("steps_seen");
  result.samples_seen = json.at("samples_seen");
  if (!json.at("best_metric").is_null()) result.best_metric = json.at("best_metric").get<double>();
  for (const Json& one : json.at("live")) result.live.push_back({one.at(0), one.at(1), one.at(2)});
  result.directory = json.at("directory");
  return result;
}

std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string TreatmentSettings(const std::vector<std::pair<std::string, std::string>>& treatment) {
  std::string text;
  for (const auto& [key, value] : treatment) text += (text.empty() ? "" : ";") + key + "=" + value;
  return text;
}

std::string LiveTreatmentText(const LiveSchedule& live) {
  return TreatmentSettings(live.treatments);
}

std::string LiveText(const LiveSchedule& live) {
  std::string arms;
  for (const std::uint32_t arm : live.arms) {
    if (!arms.empty()) arms += ',';
    if (arm == 0) arms += '-';
    for (std::size_t n = 0; n < live.treatments.size(); ++n) {
      if ((arm >> n & 1) != 0) arms += static_cast<char>('a' + n);
    }
  }
  return fmt::format("{} {} {}", live.seed, live.block_steps, arms);
}

std::string ResultText(const LaunchResult& result) {
  return TextOf(ToJson(result));
}

std::optional<LaunchResult> ResultOf(std::string_view text) {
  try {
    return FromJson(Json::parse(text));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string SpecText(const LaunchSpec& spec) {
  std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", static_cast<int>(spec.mode), spec.side, spec.warmup, spec.steps,
                  spec.time_s, spec.clock, spec.seed ? fmt::to_string(*spec.seed) : "-", spec.hash_samples, spec.label);
  if (spec.target) text += "|" + TargetText(spec.target->target) + "|" + spec.target->regex;
  for (const auto& [key, value] : spec.treatment) text += "|" + key + "=" + value;
  if (spec.live) text += "|live " + LiveTreatmentText(*spec.live) + "|" + LiveText(*spec.live);
  return text;
}

}  // namespace loopscope
