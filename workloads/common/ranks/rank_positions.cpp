#include "workloads/common/ranks/rank_positions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

namespace loopscope::train {

RankPositions::RankPositions(const std::filesystem::path& file, int ranks, bool make) : ranks_(ranks) {
  const std::size_t bytes = sizeof(RankPosition) * static_cast<std::size_t>(ranks);
  const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0), 0600);
  const bool sized = fd >= 0 && (!make || ftruncate(fd, static_cast<off_t>(bytes)) == 0);
  void* mapped = sized ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (mapped == MAP_FAILED) {
    throw std::runtime_error(fmt::format("cannot share {}: {}", file.string(), std::strerror(error)));
  }
  positions_ = static_cast<RankPosition*>(mapped);
  for (int rank = 0; make && rank < ranks; ++rank) new (positions_ + rank) RankPosition;
}

RankPositions::~RankPositions() {
  munmap(positions_, sizeof(RankPosition) * static_cast<std::size_t>(ranks_));
}

void RankPositions::Note(int rank, int epoch, int step, const char* phase) {
  RankPosition& position = positions_[rank];
  position.epoch = epoch;
  position.step = step;
  std::strncpy(position.phase, phase, sizeof position.phase - 1);
}

std::string RankPositions::Describe(int rank) const {
  const RankPosition& position = positions_[rank];
  const std::string phase(position.phase, strnlen(position.phase, sizeof position.phase));
  if (position.epoch == 0) return fmt::format("before the first epoch ({})", phase);
  if (position.step == 0) return fmt::format("epoch {} ({})", position.epoch, phase);
  return fmt::format("epoch {}, step {} ({})", position.epoch, position.step, phase);
}

}  // namespace loopscope::train
