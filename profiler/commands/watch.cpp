#include "profiler/commands/watch.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "profiler/core/printable.h"
#include "profiler/system/terminal.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kOnTerminal{1}, kInLog{10};

// CLOCK_MONOTONIC, as captures have it.
std::uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Watch::Watch(std::vector<fs::path> folders)
    : folders_(std::move(folders)), terminal_(isatty(STDERR_FILENO) == 1), thread_([this] { Run(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard guard(lock_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
  if (drawn_) Write(stderr, "\r\033[K");
}

void Watch::Run() {
  std::unique_lock guard(lock_);
  while (!ended_.wait_for(guard, terminal_ ? kOnTerminal : kInLog, [this] { return ends_; })) Show();
}

void Watch::Show() {
  for (const fs::path& folder : folders_) {
    std::error_code error;
    for (fs::recursive_directory_iterator one(folder, error), end; !error && one != end; one.increment(error)) {
      if (one->path().extension() != ".cap") continue;
      auto& tail = tails_[one->path()];
      if (tail == nullptr) tail = std::make_unique<CaptureTail>(one->path());
    }
  }
  for (const auto& [path, tail] : tails_) {
    for (const NewRecords& records : tail->Poll()) figures_.Add(records);
  }
  const std::string text = figures_.Take(NowNs());
  if (!terminal_) return Write(stderr, "loopscope: " + text + "\n");
  const auto columns = static_cast<std::size_t>(std::max(ColumnsOf(STDERR_FILENO) - 1, 20));
  Write(stderr, "\r" + Printable(text, columns) + "\033[K");
  drawn_ = true;
}

}  // namespace loopscope
