#include "profiler/containment/output_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "profiler/containment/containment.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

std::string TimeName() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text;
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

// Two runs that start within the same second get separate folders.
fs::path DefaultFolder() {
  const fs::path base = fs::path("loopscope-out") / TimeName();
  std::error_code error;
  fs::path folder = base;
  for (int i = 2; fs::exists(folder, error); ++i) folder = base.native() + "-" + std::to_string(i);
  return folder;
}

Error NotWritable(const fs::path& folder, const std::string& why) {
  return {"the output folder cannot be written to: " + why, folder, "name another with -o DIR"};
}

bool HoldsRun(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".cap") || name == "run.json" || name == "report.json" || name == "journal.jsonl") return true;
  }
  return false;
}

}  // namespace

Result<fs::path> MakeOutputFolder(const fs::path& asked, bool again) {
  std::error_code error;
  const fs::path folder = fs::absolute(asked.empty() ? DefaultFolder() : asked, error);
  fs::create_directories(folder, error);
  if (error) return NotWritable(folder, error.message());
  const fs::path trial = folder / ".write-trial";
  const int fd = open(trial.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return NotWritable(folder, std::strerror(errno));
  close(fd);
  unlink(trial.c_str());
  if (!again && HoldsRun(folder)) {
    return Error{"the output folder holds another run already", folder, "name another with -o DIR"};
  }
  return fs::canonical(folder, error);
}

Result<Scratch> Scratch::Make() {
  const char* const set = std::getenv("TMPDIR");
  std::error_code error;
  const fs::path base = fs::canonical(set && *set ? set : "/tmp", error);
  std::string pattern = base / "loopscope-XXXXXX";
  if (error || !mkdtemp(pattern.data())) {
    return Error{std::string("no temporary folder can be made: ") + (error ? error.message() : std::strerror(errno)),
                 set && *set ? set : "/tmp", "set TMPDIR to a folder that can be written to"};
  }
  return Scratch(pattern);
}

Scratch::~Scratch() {
  if (!path_.empty()) RemoveTree(path_);
}

}  // namespace loopscope
