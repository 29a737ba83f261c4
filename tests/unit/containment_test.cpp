#include "profiler/containment/containment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "profiler/containment/shared_caches.h"
#include "profiler/system/folder_copy.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t kNobody = 65534;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::map<std::string, std::string> Snapshot(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    files[entry.path().native()] = entry.is_regular_file() ? ReadAll(entry.path()) : "";
  }
  return files;
}

// Runs `body` in a child, as `uid`; its exit status.
int InChild(uid_t uid, const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (uid != getuid() && (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)) _exit(90);
    prctl(PR_SET_DUMPABLE, 1);  // a change of user takes /proc/self away, as exec would give it back
    try {
      _exit(body());
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "%s\n", problem.what());
      _exit(91);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

class ContainmentTest : public testing::TestWithParam<uid_t> {
 protected:
  void SetUp() override {
    if (getuid() != 0 && GetParam() != getuid()) GTEST_SKIP() << "only root can try another user";
    base_ = fs::temp_directory_path() / ("loopscope-containment-" + std::to_string(getpid()));
    for (const char* part : {"scratch", "scratch/launch", "work", "work/keep"}) fs::create_directories(base_ / part);
    Write(base_ / "work/checkpoint", "step 1");
    Write(base_ / "work/keep/other", "other");
    for (const auto& entry : fs::recursive_directory_iterator(base_)) {
      ASSERT_EQ(lchown(entry.path().c_str(), GetParam(), GetParam()), 0);
    }
    fs::permissions(base_ / "work", fs::perms(0750));
    before_ = Snapshot(base_ / "work");
  }

  void TearDown() override { RemoveTree(base_); }

  Result<ContainedWorld> World(const Containment& containment, const std::string& name,
                               std::vector<FilledCache> caches = {}) {
    return ContainedWorld::Make(containment, base_ / "scratch/containment" / name, base_ / "scratch/launch",
                                base_ / "work", std::move(caches));
  }

  // Runs `body` in a world that sees `caches`; what it wrote to work/cache is then moved to scratch/<name>.
  int InWorld(const Containment& containment, const std::string& name, std::vector<FilledCache> caches,
              const std::function<int()>& body) {
    const auto world = World(containment, name, std::move(caches));
    if (!world) return 80;
    const int answer = InChild(geteuid(), [&] { return world->Enter().failed ? 81 : body(); });
    taken_ = world->Take(base_ / "work/cache", base_ / "scratch" / name);
    return answer;
  }

  // Three launches with a cache in work/cache, which may be there before; each bit of the answer is something wrong.
  int Caching(const Containment& containment) {
    const fs::path cache = base_ / "work/cache";
    const auto first = [&] {
      fs::create_directories(cache);
      Write(cache / "set", "made");
      fs::remove(cache / "stale");
      return 0;
    };
    const auto later = [&] {
      if (ReadAll(cache / "set") != "made") return 1;
      if (fs::exists(cache / "stale") || fs::exists(cache / "second")) return 2;
      Write(cache / "second", "thrown away");
      return ReadAll(cache / "second") == "thrown away" ? 0 : 4;
    };
    if (const int wrong = InWorld(containment, "first", {}, first)) return wrong;
    if (!taken_) return 8;
    const std::vector<FilledCache> filled = {{cache, {base_ / "scratch/first"}}};
    for (const char* name : {"second", "third"}) {
      if (const int wrong = InWorld(containment, name, filled, later)) return wrong;
    }
    const std::vector<FilledCache> both = {{cache, {base_ / "scratch/third", base_ / "scratch/first"}}};
    return InWorld(containment, "fourth", both, [&] { return ReadAll(cache / "second") == "thrown away" ? 0 : 16; });
  }

  // Actions of a careless program; each one that does not work as in the real folder is a bit of the answer.
  int Careless() {
    int wrong = 0;
    if (ReadAll("checkpoint") != "step 1") wrong |= 1;
    Write("checkpoint", "step 2");
    if (ReadAll("checkpoint") != "step 2") wrong |= 2;
    Write("new", "new");
    fs::rename("new", "renamed");
    if (ReadAll("renamed") != "new") wrong |= 4;
    if (GetParam() == 0) {  // others may not: see docs/limits.md
      if (rename("keep", "moved") != 0 || ReadAll("moved/other") != "other" || rename("moved", "keep") != 0)
        wrong |= 128;
    }
    fs::remove_all("keep");
    if (fs::exists("keep")) wrong |= 8;
    struct stat facts;
    if (stat(".", &facts) != 0 || (facts.st_mode & 07777) != 0750 || facts.st_uid != GetParam()) wrong |= 16;
    if (fs::current_path() != expected_cwd_) wrong |= 32;
    Write(base_ / "scratch/launch/capture", "kept");
    Write(shared_, "left behind");
    if (ReadAll(shared_) != "left behind") wrong |= 64;
    return wrong;
  }

  fs::path base_, expected_cwd_;
  bool taken_ = false;
  fs::path shared_ = "/dev/shm/loopscope-containment-" + std::to_string(getpid());
  std::map<std::string, std::string> before_;
};

TEST_P(ContainmentTest, LeavesNothingBehindAndStartsAlikeEachTime) {
  const int answer = InChild(GetParam(), [this] {
    const Containment containment = DetectContainment(base_ / "scratch", base_ / "work");
    if (containment.kind != ContainmentKind::kOverlay) {
      std::fputs((containment.Describe() + "\n").c_str(), stderr);
      return 77;
    }
    for (int launch = 0; launch < 3; ++launch) {
      const auto world = World(containment, std::to_string(launch));
      if (!world) return 80;
      expected_cwd_ = base_ / "work";
      const int wrong = InChild(geteuid(), [&] {
        const auto entered = world->Enter();
        if (entered.failed) std::fprintf(stderr, "%s: %s\n", entered.failed, strerror(entered.error));
        return entered.failed ? 81 : Careless();
      });
      if (wrong) return wrong;
    }
    return 0;
  });
  if (answer == 77) GTEST_SKIP() << "this kernel allows no overlay";
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(Snapshot(base_ / "work"), before_);
  EXPECT_EQ(ReadAll(base_ / "scratch/launch/capture"), "kept");
  EXPECT_FALSE(fs::exists(shared_)) << "shared memory is thrown away too";
  EXPECT_TRUE(fs::is_empty(base_ / "scratch/containment")) << "layers are deleted with their world";
}

TEST_P(ContainmentTest, FoldersBelowAnotherOwnersCanBeWrittenTo) {
  fs::create_directories(base_ / "others/mine");
  ASSERT_EQ(lchown((base_ / "others/mine").c_str(), GetParam(), GetParam()), 0);
  const int answer = InChild(GetParam(), [this] {
    const Containment containment = DetectContainment(base_ / "scratch", base_ / "work");
    if (containment.kind != ContainmentKind::kOverlay) return 77;
    const auto world = World(containment, "others");
    if (!world) return 80;
    return InChild(geteuid(), [&] {
      if (world->Enter().failed) return 81;
      Write(base_ / "others/mine/file", "written");
      return ReadAll(base_ / "others/mine/file") == "written" ? 0 : 1;
    });
  });
  if (answer == 77) GTEST_SKIP() << "this kernel allows no overlay";
  EXPECT_EQ(answer, 0);
  EXPECT_FALSE(fs::exists(base_ / "others/mine/file"));
}

TEST_P(ContainmentTest, ShowsLaterLaunchesWhatEarlierOnesCached) {
  for (const bool there_before : {false, true}) {
    if (there_before) {
      fs::create_directories(base_ / "work/cache");
      Write(base_ / "work/cache/stale", "old");
      for (const char* path : {"work/cache", "work/cache/stale"}) {
        ASSERT_EQ(lchown((base_ / path).c_str(), GetParam(), GetParam()), 0);
      }
    }
    before_ = Snapshot(base_ / "work");
    const int answer = InChild(GetParam(), [this] {
      const Containment containment = DetectContainment(base_ / "scratch", base_ / "work");
      return containment.kind == ContainmentKind::kOverlay ? Caching(containment) : 77;
    });
    if (answer == 77) GTEST_SKIP() << "this kernel allows no overlay";
    EXPECT_EQ(answer, 0);
    EXPECT_EQ(Snapshot(base_ / "work"), before_);
    for (const char* layer : {"first", "second", "third", "fourth"}) RemoveTree(base_ / "scratch" / layer);
  }
}

TEST_P(ContainmentTest, KeepsWritesInMemoryToo) {
  const int answer = InChild(GetParam(), [this] {
    Containment containment = DetectContainment(base_ / "scratch", base_ / "work");
    if (containment.kind != ContainmentKind::kOverlay) return 77;
    containment.in_memory = true;
    const auto world = World(containment, "memory");
    expected_cwd_ = base_ / "work";
    return world ? InChild(geteuid(), [&] { return world->Enter().failed ? 81 : Careless(); }) : 80;
  });
  if (answer == 77) GTEST_SKIP() << "this kernel allows no overlay";
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(Snapshot(base_ / "work"), before_);
}

TEST_P(ContainmentTest, CopiesTheWorkingFolderWhereThereIsNoOverlay) {
  Containment containment;
  containment.kind = ContainmentKind::kCopy;
  const int answer = InChild(GetParam(), [&] {
    const auto world = World(containment, "copy");
    if (!world) return 80;
    expected_cwd_ = world->working_directory();
    if (expected_cwd_ == base_ / "work") return 82;
    return InChild(geteuid(), [&] { return world->Enter().failed ? 81 : Careless(); });
  });
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(Snapshot(base_ / "work"), before_);
  fs::remove(shared_);
}

TEST(SharedCaches, AreTheFoldersThatTheEnvironmentNames) {
  using testing::ElementsAre;
  EXPECT_THAT(CacheFolders({{"HOME", "/home/one"}}, "/work"), ElementsAre("/home/one/.cache"));
  EXPECT_THAT(CacheFolders({{"HOME", "/home/one"}, {"XDG_CACHE_HOME", "/fast/"}}, "/work"), ElementsAre("/fast"));
  EXPECT_THAT(CacheFolders({{"HOME", "/h"}, {"HF_HOME", "/h/.cache/hf"}, {"TORCH_HOME", "/torch"}}, "/work"),
              ElementsAre("/h/.cache", "/torch"));
  EXPECT_THAT(CacheFolders({{"HOME", "/h"}}, "/h/.cache/project"), IsEmpty()) << "what is trained there is no cache";
  EXPECT_THAT(CacheFolders({{"HOME", "relative"}, {"HF_HOME", ""}}, "/work"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Users, ContainmentTest, testing::Values(getuid(), kNobody),
                         [](const auto& param) { return param.index == 0 ? "Self" : "Nobody"; });

TEST(FolderCopy, StopsCountingAtTheLimits) {
  const fs::path folder = fs::temp_directory_path() / ("loopscope-copy-" + std::to_string(getpid()));
  fs::create_directories(folder / "left out");
  Write(folder / "a", std::string(1000, 'x'));
  Write(folder / "left out/b", std::string(5000, 'x'));
  EXPECT_TRUE(MeasureFolder(folder, folder / "left out", 1000, 10).within_limits);
  EXPECT_FALSE(MeasureFolder(folder, folder / "left out", 999, 10).within_limits);
  EXPECT_FALSE(MeasureFolder(folder, folder / "left out", 1000, 1).within_limits);
  EXPECT_FALSE(MeasureFolder(folder, folder / "elsewhere", 1000, 10).within_limits);
  RemoveTree(folder);
}

TEST(FolderCopy, LinksOutOfItLeadWhereTheyLed) {
  const fs::path base = fs::temp_directory_path() / ("loopscope-links-" + std::to_string(getpid()));
  fs::create_directories(base / "work/inside");
  fs::create_directories(base / "data");
  Write(base / "data/images", "real");
  Write(base / "work/inside/file", "mine");
  fs::create_symlink("../data", base / "work/data");
  fs::create_symlink("inside/file", base / "work/near");
  fs::create_symlink("nowhere", base / "work/broken");
  EXPECT_THAT(MeasureFolder(base / "work", base / "none", 1u << 20, 100).links_out,
              testing::ElementsAre("data -> " + fs::canonical(base / "data").native()));
  fs::create_directories(base / "copies/deeper");
  ASSERT_TRUE(CopyFolder(base / "work", base / "copies/deeper/work", base / "none"));
  EXPECT_EQ(ReadAll(base / "copies/deeper/work/data/images"), "real");
  Write(base / "copies/deeper/work/near", "changed");
  EXPECT_EQ(ReadAll(base / "work/inside/file"), "mine");
  EXPECT_EQ(fs::read_symlink(base / "copies/deeper/work/broken"), "nowhere");
  RemoveTree(base);
}

TEST(MountPlan, TellsWhatIsThrownAway) {
  const fs::path tmp = fs::temp_directory_path();
  const MountPlan plan = PlanMounts({"/r", "/l", "/hide", "/launch", {}, false}, {{"/", "ext4", false}});
  EXPECT_FALSE(IsOverlaid(plan, "/run/x"));
  EXPECT_TRUE(IsOverlaid(plan, "/dev/shm/x"));
  EXPECT_FALSE(IsOverlaid(plan, "/dev/null"));
  EXPECT_TRUE(IsOverlaid(plan, tmp / "x"));
  EXPECT_FALSE(IsOverlaid(plan, "/launch/capture"));
}

TEST(MountPlan, ReadsMountInfo) {
  const auto mounts = ParseMountInfo(
      "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
      "28 27 0:25 / /mnt/a\\040b ro,nosuid shared:3 master:1 - tmpfs t ro\n"
      "29 27 0:26 / /data rw - nfs4 host:/x rw\n"
      "30 29 0:27 / /data ro - ext4 /dev/vdb rw\n"
      "broken line\n");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_THAT(mounts, Contains(testing::AllOf(Field(&MountPoint::path, "/mnt/a b"), Field(&MountPoint::type, "tmpfs"),
                                              Field(&MountPoint::read_only, true))));
  EXPECT_THAT(mounts, Contains(testing::AllOf(Field(&MountPoint::path, "/data"), Field(&MountPoint::type, "ext4"))));
}

TEST(MountPlan, EscapesWhatPartsOverlayOptions) {
  EXPECT_EQ(EscapeOverlayPath("/a,b:c\\d e"), "/a\\,b\\:c\\\\d e");
}

TEST(MountPlan, PartsATreeThatHoldsAMountOnlyInAUserNamespace) {
  const fs::path base = fs::temp_directory_path() / ("loopscope-plan-" + std::to_string(getpid()));
  fs::create_directories(base / "mounted");
  fs::create_directories(base / "beside");
  const std::vector<MountPoint> mounts = {{"/", "ext4", false}, {base / "mounted", "ext4", false}};
  const auto kinds = [&](bool user_namespace) {
    std::map<std::string, MountStep::Kind> by_target;
    for (const auto& step : PlanMounts({"/r", "/l", "/hide", "/launch", {}, user_namespace}, mounts).steps) {
      by_target[step.target] = step.kind;
    }
    return by_target;
  };
  const std::string top = "/r/" + base.relative_path().begin()->native(), at = "/r" + base.native();
  EXPECT_EQ(kinds(false)[top], MountStep::Kind::kOverlay);
  EXPECT_EQ(kinds(false).count(at + "/beside"), 0u);
  EXPECT_EQ(kinds(false)[at + "/mounted"], MountStep::Kind::kOverlay);
  EXPECT_EQ(kinds(true)[top], MountStep::Kind::kReadOnlyBind);
  EXPECT_EQ(kinds(true)[at + "/beside"], MountStep::Kind::kOverlay);
  EXPECT_EQ(kinds(true)[at + "/mounted"], MountStep::Kind::kOverlay);
  fs::remove_all(base);
}

TEST(Containment, SaysWhatStaysExposed) {
  Containment none;
  none.why_no_overlay = "user namespace: Operation not permitted";
  EXPECT_THAT(none.Describe(), HasSubstr("real file system (no overlay: user namespace"));
}

}  // namespace
}  // namespace loopscope
