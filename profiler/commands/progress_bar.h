// Progress of long work on stderr: one line that is updated on a terminal, plain lines in a log.
#pragma once

#include <string>

#include "profiler/experiments/options.h"

namespace loopscope {

class ProgressBar {
 public:
  ProgressBar(bool quiet, bool no_color);
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Say(const std::string& line);  // above the bar; nothing when quiet
  void Show(const Progress& progress);
  void Clear();

 private:
  bool quiet_, terminal_, color_;
  bool drawn_ = false;
  int last_tenth_ = -1;
};

// One line of at most `columns` characters: "[####----]  12/96  2 min 10 s left  block 3 of 12, ALL-amp".
std::string ProgressLine(const Progress& progress, int columns);

std::string TimeText(double seconds);  // "45 s", "2 min 10 s", "1 h 5 min"

}  // namespace loopscope
