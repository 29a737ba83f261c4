#include "profiler/containment/likely_folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <string_view>
#include <system_error>

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// A search of network folders with thousands of users must stay short.
constexpr int kMostEntries = 8192, kMostInFolder = 512, kDeepest = 5;
constexpr int kDeepestNearby = 2;  // below a folder that leads to the working directory
constexpr std::array<std::string_view, 12> kSystem = {"/proc", "/sys", "/dev",   "/run",   "/usr", "/bin",
                                                      "/sbin", "/lib", "/lib64", "/lib32", "/etc", "/boot"};

struct Place {
  fs::path path;
  int depth = 0;
};

class Search {
 public:
  // First around the working directory: programs write near where they run.
  std::vector<fs::path> Run(const fs::path& working_directory) {
    for (fs::path up = working_directory.parent_path(); up.has_relative_path(); up = up.parent_path()) {
      waiting_.push_back({up, kDeepest - kDeepestNearby});
    }
    waiting_.push_back({"/", 0});
    while (!waiting_.empty() && entries_ < kMostEntries) {
      const Place place = std::move(waiting_.front());
      waiting_.pop_front();
      LookInto(place);
    }
    return std::move(found_);
  }

 private:
  void LookInto(const Place& place) {
    std::error_code error;
    int left = kMostInFolder;
    for (fs::directory_iterator at(place.path, error), end; !error && at != end; at.increment(error)) {
      if (++entries_ > kMostEntries || --left < 0) return;
      struct stat one {};
      if (lstat(at->path().c_str(), &one) != 0 || !S_ISDIR(one.st_mode)) continue;
      Look({at->path(), place.depth + 1}, one.st_uid == geteuid());
    }
  }

  // Our own folders can be copied up with what they hold.
  void Look(Place place, bool ours) {
    if (std::ranges::find(kSystem, place.path.native()) != kSystem.end()) return;
    if (access(place.path.c_str(), W_OK | X_OK) == 0) found_.push_back(place.path);
    if (!ours && place.depth < kDeepest) waiting_.push_back(std::move(place));
  }

  std::deque<Place> waiting_;
  std::vector<fs::path> found_;
  int entries_ = 0;
};

}  // namespace

std::vector<fs::path> LikelyFolders(const fs::path& working_directory, bool elsewhere) {
  std::vector<fs::path> folders = {working_directory};
  for (const char* variable : {"HOME", "TMPDIR", "XDG_CACHE_HOME"}) {
    if (const char* value = std::getenv(variable); value && *value == '/') folders.emplace_back(value);
  }
  if (elsewhere) {
    static const std::vector<fs::path> found = Search().Run(working_directory);
    folders.insert(folders.end(), found.begin(), found.end());
  }
  std::vector<fs::path> real;
  std::error_code error;
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder, error)) continue;
    fs::path canonical = fs::canonical(folder, error);
    if (std::ranges::find(real, canonical) == real.end()) real.push_back(std::move(canonical));
  }
  return real;
}

}  // namespace loopscope
