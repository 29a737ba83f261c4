// Follows a launched program until its metric reaches a target: in what it prints, or through the mark that the
// preloaded library leaves in the launch's folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>

#include "profiler/core/launch.h"
#include "profiler/core/report/target.h"

namespace loopscope {

class TargetFollower {
 public:
  // `output`: the file that the program prints to; `folder`: the launch's. Both may not be there yet.
  TargetFollower(const TargetWatch& watch, std::filesystem::path folder, std::filesystem::path output);

  // Looks once, `now_s` after the program's start. True when the target is reached.
  bool Reached(double now_s);

  // When the output reached the target; nullopt without a regular expression.
  std::optional<double> reached_s() const { return reached_s_; }
  std::optional<double> best() const { return best_; }
  int unreadable() const { return unreadable_; }  // lines that matched and held no number

 private:
  void ReadOutput(double now_s);
  void ReadLine(double now_s);

  const TargetWatch& watch_;
  std::filesystem::path mark_, output_;
  std::optional<std::regex> regex_;
  std::ifstream stream_;
  std::string line_;
  std::optional<double> reached_s_, best_;
  int unreadable_ = 0;
};

bool Meets(const Target& target, double value);
double BetterOf(const Target& target, const std::optional<double>& best, double value);

}  // namespace loopscope
