#include "profiler/importers/capture/run_files.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "profiler/core/file_text.h"
#include "profiler/core/json_members.h"
#include "profiler/core/write_file.h"

namespace loopscope {
namespace {

using Json = nlohmann::json;

constexpr char kSchema[] = "loopscope.run/1";

// Takes `key` where it is present and of the right type; anything else leaves the default.
template <class T>
void Take(const Json& from, const char* key, T& value) {
  const auto found = from.find(key);
  if (found == from.end() || found->is_null()) return;
  try {
    value = found->get<T>();
  } catch (const Json::exception&) {
  }
}

Json ToJson(const RunInfo& run) {
  return {{"schema", kSchema},
          {"source", run.source},
          {"command", run.command},
          {"started", run.started},
          {"working_directory", run.working_directory},
          {"cpu", run.cpu},
          {"cores", run.cores},
          {"cpu_features", run.cpu_features},
          {"gpus", run.gpus},
          {"versions", run.versions},
          {"environment", run.environment},
          {"treatment", run.treatment},
          {"exit_status", run.exit_status},
          {"ranks", run.ranks},
          {"rank", run.rank}};
}

RunInfo FromJson(const Json& json) {
  RunInfo run;
  Take(json, "source", run.source);
  Take(json, "command", run.command);
  Take(json, "started", run.started);
  Take(json, "working_directory", run.working_directory);
  Take(json, "cpu", run.cpu);
  Take(json, "cores", run.cores);
  Take(json, "cpu_features", run.cpu_features);
  Take(json, "gpus", run.gpus);
  Take(json, "versions", run.versions);
  Take(json, "environment", run.environment);
  Take(json, "treatment", run.treatment);
  Take(json, "exit_status", run.exit_status);
  Take(json, "ranks", run.ranks);
  Take(json, "rank", run.rank);
  return run;
}

}  // namespace

Result<void> WriteRunJson(const std::filesystem::path& path, const RunInfo& run) {
  const std::string text = ToJson(run).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  const int error = WritePrivateFile(path, text);
  if (error == 0) return {};
  return Error{std::string("cannot be written: ") + std::strerror(error), path.string(),
               "choose another folder with -o"};
}

Result<RunInfo> ReadRunJson(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMost = 64 << 20;
  std::error_code error;
  const auto text = std::filesystem::is_regular_file(path, error)
                        ? FileHead(path, std::min(kMost, std::filesystem::file_size(path, error)))
                        : std::nullopt;
  if (!text) return Error{"cannot be read", path.string(), "pass a run folder that loopscope wrote"};
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return Error{"is not a JSON object", path.string(), "pass a run folder that loopscope wrote"};
  std::string schema = kSchema;
  Take(json, "schema", schema);
  if (schema != kSchema) {
    return Error{"has the schema " + schema + ", this loopscope reads " + kSchema, path.string(),
                 "read it with the loopscope that wrote it"};
  }
  return FromJson(json);
}

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
