#include "profiler/commands/journal.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiler/commands/launch_environment.h"

namespace loopscope {
namespace {

using Json = nlohmann::json;

// As bits: a loss may be no number, which JSON cannot say.
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
  return {{"status", result.status},
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
  result.status = json.at("status");
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

Error CannotWrite(const std::filesystem::path& path) {
  return {fmt::format("cannot be written: {}", std::strerror(errno)), path.string(), "choose another folder with -o"};
}

struct Lines {
  std::optional<std::uint64_t> plan;
  std::map<std::uint64_t, LaunchResult> finished;
  std::uintmax_t whole_bytes = 0;  // up to the end of the last line that can be read
};

Lines ReadLines(const std::filesystem::path& path) {
  Lines lines;
  std::ifstream input(path, std::ios::binary);
  std::string line;
  while (std::getline(input, line) && !input.eof()) {
    try {
      const Json json = Json::parse(line);
      if (!lines.plan) {
        lines.plan = json.at("plan").get<std::uint64_t>();
      } else {
        lines.finished[json.at("launch").get<std::uint64_t>()] = FromJson(json.at("result"));
      }
    } catch (const Json::exception&) {
      break;
    }
    lines.whole_bytes += line.size() + 1;
  }
  return lines;
}

}  // namespace

struct Journal::File {
  std::FILE* stream = nullptr;
  ~File() {
    if (stream) std::fclose(stream);
  }
  bool WriteLine(const Json& json) {
    const std::string line = TextOf(json) + "\n";
    return std::fwrite(line.data(), 1, line.size(), stream) == line.size() && std::fflush(stream) == 0;
  }
};

std::uint64_t JournalHash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
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

Journal::Journal(std::unique_ptr<File> file) : file_(std::move(file)) {}
Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::Open(const std::filesystem::path& path, std::uint64_t plan, bool resume) {
  Lines lines;
  if (resume) {
    lines = ReadLines(path);
    if (!lines.plan) {
      return Error{"holds no launches to resume", path.string(), "pass the interrupted run's folder with -o"};
    }
    if (*lines.plan != plan) {
      return Error{"belongs to another plan: the command, the treatments or the options differ", path.string(),
                   "repeat the interrupted command line with --resume, or start anew in another folder"};
    }
    std::error_code error;
    std::filesystem::resize_file(path, lines.whole_bytes, error);
    if (error) return CannotWrite(path);
  }
  auto file = std::make_unique<File>();
  file->stream = std::fopen(path.c_str(), resume ? "ab" : "wb");
  if (!file->stream) return CannotWrite(path);
  if (!resume && !file->WriteLine({{"plan", plan}})) return CannotWrite(path);
  std::unique_ptr<Journal> journal(new Journal(std::move(file)));
  journal->finished_ = std::move(lines.finished);
  return journal;
}

std::optional<LaunchResult> Journal::Finished(const LaunchSpec& spec) const {
  const auto found = finished_.find(JournalHash(SpecText(spec)));
  // What failed may have failed for a reason that is gone now.
  if (found == finished_.end() || !found->second.ok()) return std::nullopt;
  return found->second;
}

bool Journal::Append(const LaunchSpec& spec, const LaunchResult& result) {
  return file_->WriteLine({{"launch", JournalHash(SpecText(spec))}, {"label", spec.label}, {"result", ToJson(result)}});
}

}  // namespace loopscope
