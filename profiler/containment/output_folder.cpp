#include "profiler/containment/output_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/containment/containment.h"
#include "profiler/core/launch.h"
#include "profiler/core/write_file.h"

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

constexpr char kOwnerName[] = "owner";  // locked by the process that made the folder, for as long as it lives
constexpr char kPrefix[] = "loopscope-";

// The descriptor that holds the lock; -1 where another process has it, or there is none.
int Lock(const fs::path& file, int flags) {
  const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, S_IRUSR | S_IWUSR);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

bool HoldsCapture(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".cap") return true;
  }
  return false;
}

bool IsOurFolder(const fs::path& path) {
  struct stat one {};
  return lstat(path.c_str(), &one) == 0 && S_ISDIR(one.st_mode) && one.st_uid == geteuid();
}

// Removes what killed processes left behind, except recordings, whose folders are returned.
std::vector<fs::path> ClearLeftovers(const fs::path& base) {
  std::vector<fs::path> recordings;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    const fs::path& path = entry.path();
    if (!path.filename().native().starts_with(kPrefix) || !IsOurFolder(path)) continue;
    const int lock = Lock(path / kOwnerName, 0);
    if (lock < 0) continue;
    if (HoldsCapture(path)) {
      recordings.push_back(path);
    } else {
      RemoveTree(path);
    }
    close(lock);
  }
  return recordings;
}

}  // namespace

Result<fs::path> MakeOutputFolder(const fs::path& asked, bool again) {
  std::error_code error;
  const fs::path folder = fs::absolute(asked.empty() ? DefaultFolder() : asked, error);
  if (again && !fs::is_directory(folder, error)) {
    return Error{"there is no such folder to go on in", folder, "name the one of the experiment with -o DIR"};
  }
  if (const int failed = MakePrivateFolder(folder); failed != 0) return NotWritable(folder, std::strerror(failed));
  std::string trial = folder / ".write-trial-XXXXXX";
  const int fd = mkostemp(trial.data(), O_CLOEXEC);
  if (fd < 0) return NotWritable(folder, std::strerror(errno));
  close(fd);
  unlink(trial.c_str());
  if (!again && HoldsRun(folder)) {
    return Error{"the output folder holds another run already", folder, "name another with -o DIR"};
  }
  if (!again && HoldsRun(folder / kRecordingName)) {
    return Error{"the output folder holds what a run that was killed recorded, or one that still runs", folder,
                 "read it with `loopscope report DIR`, delete it, or name another with -o DIR"};
  }
  if (!again && fs::exists(fs::symlink_status(folder / kRecordingName, error))) {
    return Error{std::string("the output folder holds `") + kRecordingName + "`, which is not ours", folder,
                 "name another with -o DIR"};
  }
  return fs::canonical(folder, error);
}

Result<Scratch> Scratch::Make() {
  const char* const set = std::getenv("TMPDIR");
  std::error_code error;
  const fs::path base = fs::canonical(set != nullptr && *set ? set : "/tmp", error);
  std::vector<fs::path> left = error ? std::vector<fs::path>() : ClearLeftovers(base);
  std::string pattern = base / (std::string(kPrefix) + "XXXXXX");
  if (error || !mkdtemp(pattern.data())) {
    return Error{std::string("no temporary folder can be made: ") + (error ? error.message() : std::strerror(errno)),
                 set && *set ? set : "/tmp", "set TMPDIR to a folder that can be written to"};
  }
  // Unlocked when this process ends; locked before others can find it.
  const int lock = Lock(pattern + "/.owner", O_CREAT);
  fs::rename(pattern + "/.owner", fs::path(pattern) / kOwnerName, error);
  return Scratch(pattern, lock, std::move(left));
}

Scratch::~Scratch() {
  // A killed trial may write until the kernel has ended all its processes.
  constexpr int kTries = 40;
  constexpr auto kBetween = std::chrono::milliseconds(50);
  std::error_code error;
  for (int i = 0; i < kTries && !path_.empty(); ++i) {
    RemoveTree(path_);
    if (!fs::exists(fs::symlink_status(path_, error))) break;
    std::this_thread::sleep_for(kBetween);
  }
  if (lock_ >= 0) close(lock_);
}

}  // namespace loopscope
