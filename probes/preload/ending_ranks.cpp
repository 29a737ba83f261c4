#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdio>

#include "probes/capture/records.h"
#include "probes/environment.h"
#include "probes/preload/ending.h"

namespace loopscope {
namespace {

constexpr unsigned kPauseUs = 2000;

// "<run folder>/rank-<rank>.<what>"
struct RankFile {
  RankFile(const Settings& settings, int rank, const char* what) noexcept {
    std::snprintf(path, sizeof path, "%s/rank-%d.%s", settings.run_dir, rank, what);
  }
  bool exists() const noexcept { return access(path, F_OK) == 0; }

  char path[PATH_MAX];
};

void WriteRankFile(const Settings& settings, const char* what) noexcept {
  const env::Rank rank = env::ReadRank();
  if (rank.rank < 0) return;
  const int fd = open(RankFile(settings, rank.rank, what).path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
}

bool EveryRankThatBeganEnded(const Settings& settings, int size) noexcept {
  for (int rank = 0; rank < size; ++rank) {
    if (RankFile(settings, rank, "began").exists() && !RankFile(settings, rank, "ended").exists()) return false;
  }
  return true;
}

void EndPath(const Settings& settings, char (&path)[PATH_MAX]) noexcept {
  std::snprintf(path, sizeof path, "%s/ranks.end", settings.run_dir);
}

}  // namespace

void AnnounceRank(const Settings& settings) noexcept {
  WriteRankFile(settings, "began");
  const env::Rank rank = env::ReadRank();
  if (rank.rank < 0) return;
  capture::WriteFact("rank", rank.rank);
  capture::WriteFact("ranks", rank.size);
  char node[HOST_NAME_MAX + 1] = "";
  if (gethostname(node, sizeof node - 1) == 0) capture::WriteFact("node", std::string_view(node));
}

std::uint64_t AgreedEnd(const Settings& settings) noexcept {
  char path[PATH_MAX];
  EndPath(settings, path);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  unsigned long long step = 0;
  if (std::fscanf(file, "%llu", &step) != 1) step = 0;
  std::fclose(file);
  return step;
}

std::uint64_t ProposeEnd(const Settings& settings, std::uint64_t step) noexcept {
  const RankFile proposal(settings, env::ReadRank().rank, "end");
  std::FILE* file = std::fopen(proposal.path, "we");
  if (file == nullptr) return step;
  const bool written = std::fprintf(file, "%llu\n", static_cast<unsigned long long>(step)) > 0;
  if (std::fclose(file) != 0 || !written) return step;
  char path[PATH_MAX];
  EndPath(settings, path);
  // Atomic, and the first proposal wins: link() does not replace an existing file.
  if (link(proposal.path, path) == 0) return step;
  const std::uint64_t agreed = AgreedEnd(settings);
  return agreed != 0 ? agreed : step;
}

void MeetRanks(const Settings& settings) noexcept {
  const env::Rank rank = env::ReadRank();
  if (rank.rank < 0) return;
  WriteRankFile(settings, "ended");
  const std::uint64_t until = capture::NowNs() + settings.rank_timeout_ns;
  while (!EveryRankThatBeganEnded(settings, rank.size)) {
    if (capture::NowNs() > until) {
      capture::WriteMark(wire::MarkKind::kProbeOff, "some ranks did not reach the end of the run in time");
      return;
    }
    usleep(kPauseUs);
  }
}

}  // namespace loopscope
