// Shows a training while it runs: one line on a terminal, updated each second; an occasional line in a log.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "profiler/commands/watch_figures.h"

namespace loopscope {

class Watch {
 public:
  explicit Watch(std::vector<std::filesystem::path> folders);  // in which captures are written
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void Run();
  void Show();

  std::vector<std::filesystem::path> folders_;
  std::map<std::filesystem::path, std::unique_ptr<CaptureTail>> tails_;
  WatchFigures figures_;
  bool terminal_, drawn_ = false;
  std::mutex lock_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace loopscope
