// Where each rank is in its training, in memory that the process which started them shares: what it reports when one of
// them died or hangs.
#pragma once

#include <filesystem>
#include <string>

namespace loopscope::train {

struct RankPosition {
  int epoch = 0, step = 0;  // from 1; 0: not begun
  char phase[24] = "start";
};

class RankPositions {
 public:
  // The file is made by the process that passes the count of ranks; others open it. Throws std::runtime_error.
  RankPositions(const std::filesystem::path& file, int ranks, bool make);
  RankPositions(const RankPositions&) = delete;
  RankPositions& operator=(const RankPositions&) = delete;
  ~RankPositions();

  void Note(int rank, int epoch, int step, const char* phase);
  // "epoch 2, step 5 (backward)", "before the first epoch (start)"
  std::string Describe(int rank) const;

 private:
  RankPosition* positions_ = nullptr;
  int ranks_;
};

}  // namespace loopscope::train
