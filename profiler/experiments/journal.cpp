#include "profiler/experiments/journal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiler/core/launch_text.h"
#include "profiler/core/text.h"
#include "profiler/core/write_file.h"

namespace loopscope {
namespace {

using Json = nlohmann::json;

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
        const std::optional<LaunchResult> result = ResultOf(json.at("result").dump());
        if (!result) break;
        lines.finished[json.at("launch").get<std::uint64_t>()] = *result;
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
  file->stream = OpenPrivateFile(path, resume);
  if (!file->stream) return CannotWrite(path);
  if (!resume && !file->WriteLine({{"plan", plan}})) return CannotWrite(path);
  std::unique_ptr<Journal> journal(new Journal(std::move(file)));
  journal->finished_ = std::move(lines.finished);
  return journal;
}

std::optional<LaunchResult> Journal::Finished(const LaunchSpec& spec) const {
  const auto found = finished_.find(TextHash(SpecText(spec)));
  // A launch may have failed for a reason that no longer exists.
  if (found == finished_.end() || !found->second.ok()) return std::nullopt;
  return found->second;
}

bool Journal::Append(const LaunchSpec& spec, const LaunchResult& result) {
  return file_->WriteLine(
      {{"launch", TextHash(SpecText(spec))}, {"label", spec.label}, {"result", Json::parse(ResultText(result))}});
}

}  // namespace loopscope
