#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "probes/preload/ending.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

class RankMeeting : public testing::Test {
 protected:
  RankMeeting() {
    std::string pattern = fs::temp_directory_path() / "loopscope-meeting-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    settings_.run_dir = folder_.c_str();
  }
  ~RankMeeting() override { fs::remove_all(folder_); }

  // Runs rank `rank` of `size` as a process of its own; its exit status is what `does` returns.
  template <class Does>
  static pid_t Launch(int rank, int size, Does does) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setenv("RANK", std::to_string(rank).c_str(), 1);
    setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
    _exit(does());
  }
  static int StatusOf(pid_t pid) {
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder_;
  Settings settings_;
};

TEST_F(RankMeeting, NoEndIsAgreedBeforeOneIsProposed) {
  EXPECT_EQ(AgreedEnd(settings_), 0u);
}

TEST_F(RankMeeting, TheFirstProposalHoldsForAll) {
  const auto propose = [&](std::uint64_t step) {
    return [this, step] { return static_cast<int>(ProposeEnd(settings_, step)); };
  };
  EXPECT_EQ(StatusOf(Launch(1, 2, propose(41))), 41);
  EXPECT_EQ(AgreedEnd(settings_), 41u);
  EXPECT_EQ(StatusOf(Launch(0, 2, propose(42))), 41);
}

TEST_F(RankMeeting, RanksThatProposeAtOnceAgree) {
  constexpr int kRanks = 16;
  for (int round = 0; round < 20; ++round) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks.push_back(Launch(rank, kRanks, [&, rank] { return static_cast<int>(ProposeEnd(settings_, 10 + rank)); }));
    }
    const int first = StatusOf(ranks[0]);
    EXPECT_GE(first, 10);
    for (int rank = 1; rank < kRanks; ++rank) EXPECT_EQ(StatusOf(ranks[rank]), first) << rank;
    EXPECT_EQ(AgreedEnd(settings_), static_cast<std::uint64_t>(first));
  }
}

TEST_F(RankMeeting, WithoutAFolderARankEndsAsItProposed) {
  settings_.run_dir = "/no/such/folder";
  EXPECT_EQ(StatusOf(Launch(0, 2, [&] { return static_cast<int>(ProposeEnd(settings_, 7)); })), 7);
  EXPECT_EQ(AgreedEnd(settings_), 0u);
}

TEST_F(RankMeeting, WaitsForThoseThatBegan) {
  settings_.rank_timeout_ns = 60'000'000'000;
  const auto meet = [&] {
    MeetRanks(settings_);
    return fs::exists(folder_ + "/rank-0.ended") && fs::exists(folder_ + "/rank-2.ended") ? 0 : 1;
  };
  for (const int rank : {0, 2}) {  // rank 1 never began
    ASSERT_EQ(StatusOf(Launch(rank, 3, [&] { return AnnounceRank(settings_), 0; })), 0);
  }
  const pid_t first = Launch(0, 3, meet);
  EXPECT_EQ(StatusOf(Launch(2, 3, meet)), 0);
  EXPECT_EQ(StatusOf(first), 0);
}

}  // namespace
}  // namespace loopscope
