#include "profiler/launch/probe_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// A folder with probes whose sources are `source`, and a cache of its own.
class ProbeBuild : public testing::Test {
 protected:
  ProbeBuild() : root_(fs::path(testing::TempDir()) / ("probe_build_" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "probes" / "sources");
    setenv("XDG_CACHE_HOME", (root_ / "cache").c_str(), 1);
    probes_.preload = root_ / "probes" / "libloopscope_preload.so";
    for (const char* folder : {"torch/include/torch/csrc/api/include", "torch/lib", "bin", "run"}) {
      fs::create_directories(root_ / folder);
    }
  }
  ~ProbeBuild() override { fs::remove_all(root_); }

  void Write(const fs::path& path, const std::string& text, bool executable = false) {
    std::ofstream(root_ / path) << text;
    if (executable) fs::permissions(root_ / path, fs::perms::owner_all);
  }

  fs::path root_;
  ProbePaths probes_;
  Signals signals_;
};

TEST(SameTorch, AsksForMajorAndMinor) {
  EXPECT_TRUE(SameTorch("2.11.0+cu130", "2.11.1+cpu"));
  EXPECT_FALSE(SameTorch("2.11.0", "2.10.0"));
  EXPECT_FALSE(SameTorch("2.1.0", "2.11.0"));
  EXPECT_FALSE(SameTorch("", "2.11.0"));
}

TEST_F(ProbeBuild, ReadsTheInterpreterOfAScript) {
  Write("bin/torchrun", "#!/opt/env/bin/python3.12 -u\nimport torch\n", true);
  Write("bin/train", "#!/usr/bin/env python3\n", true);
  Write("bin/shell", "#!/bin/sh\n", true);
  EXPECT_EQ(InterpreterOf({root_ / "bin/torchrun", "x.py"}), "/opt/env/bin/python3.12");
  EXPECT_EQ(InterpreterOf({root_ / "bin/train"}), "python3");
  EXPECT_EQ(InterpreterOf({root_ / "bin/shell"}), "");
  EXPECT_EQ(InterpreterOf({}), "");
}

TEST_F(ProbeBuild, ReadsWhatAnInterpreterSaysOfItsTorch) {
  Write("bin/python", "#!/bin/sh\nprintf 'of the site\\nloopscope asks\\n/site/torch\\n2.9.1+cpu\\n0\\n'\n", true);
  const auto torch = TorchOf(root_ / "bin/python");
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->folder, "/site/torch");
  EXPECT_EQ(torch->version, "2.9.1+cpu");
  EXPECT_FALSE(torch->cxx11_abi);
  Write("bin/bare", "#!/bin/sh\nexit 1\n", true);
  EXPECT_FALSE(TorchOf(root_ / "bin/bare"));
}

TEST_F(ProbeBuild, KeepsProbesByTheirSourcesAndTorch) {
  EXPECT_TRUE(ProbeCache(probes_).empty());
  Write("probes/sources/one.cpp", "int One() { return 1; }\n");
  const fs::path first = ProbeCache(probes_);
  EXPECT_EQ(first.parent_path(), root_ / "cache" / "loopscope" / "probes");
  Write("probes/sources/one.cpp", "int One() { return 2; }\n");
  EXPECT_NE(ProbeCache(probes_), first);
  EXPECT_EQ(CachedProbe("/c", {"/site/torch", "2.9.1+cpu", false}), "/c/torch-2.9.1+cpu-abi0/libloopscope_torch.so");
}

TEST_F(ProbeBuild, FindsTheProbesThatAPackageBringsForOtherTorches) {
  for (const char* folder : {"probes/torch-2.10", "probes/torch-2.9", "probes/python"})
    fs::create_directories(root_ / folder);
  EXPECT_THAT(OtherTorches(probes_), testing::IsEmpty());
  for (const char* minor : {"2.10", "2.9"}) Write(std::string("probes/torch-") + minor + "/libloopscope_torch.so", "");
  EXPECT_THAT(OtherTorches(probes_), testing::ElementsAre("2.9", "2.10"));
  EXPECT_EQ(TorchProbeBeside(probes_, "2.9.1+cpu"), root_ / "probes/torch-2.9/libloopscope_torch.so");
}

TEST_F(ProbeBuild, OffersNothingForATorchWhoseProbeIsBeside) {
  Write("probes/sources/one.cpp", "int One() { return 1; }\n");
  Write("probes/torch_version", "2.11.0\n");
  Write("bin/python", "#!/bin/sh\nprintf 'hello\\nloopscope asks\\n/site/torch\\n2.9.1+cpu\\n1\\n'\n", true);
  Write("bin/cxx", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho made > \"$1\"\n", true);
  setenv("CXX", (root_ / "bin/cxx").c_str(), 1);
  fs::create_directories(root_ / "probes/torch-2.9");
  Write("probes/torch-2.9/libloopscope_torch.so", "");
  const fs::path kept = CachedProbe(ProbeCache(probes_), {"/site/torch", "2.9.1+cpu", true});
  EXPECT_EQ(OfferProbe(probes_, {root_ / "bin/python"}, true, signals_), ProbeOffer::kSettled);
  EXPECT_FALSE(fs::exists(kept));
  fs::remove(root_ / "probes/torch-2.9/libloopscope_torch.so");
  EXPECT_EQ(OfferProbe(probes_, {root_ / "bin/python"}, true, signals_), ProbeOffer::kSettled);
  unsetenv("CXX");
  EXPECT_TRUE(fs::exists(kept));
}

TEST_F(ProbeBuild, SaysWhatTheCompilerSaid) {
  Write("probes/sources/one.cpp", "int One() { return; }\n");
  const TorchInstall torch{root_ / "torch", "2.9.1", true};
  Write("bin/cxx", "#!/bin/sh\necho 'one.cpp:1: return without a value' >&2\nexit 1\n", true);
  setenv("CXX", (root_ / "bin/cxx").c_str(), 1);
  const auto built = BuildProbe(probes_, torch, signals_);
  unsetenv("CXX");
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().Message(), testing::HasSubstr("2.9.1"));
  EXPECT_THAT(built.error().Message(), testing::HasSubstr("return without a value"));
  EXPECT_FALSE(fs::exists(CachedProbe(ProbeCache(probes_), torch)));
  // Nothing incomplete is left in the cache; the compiler's messages are.
  EXPECT_EQ(std::distance(fs::directory_iterator(ProbeCache(probes_)), fs::directory_iterator()), 1);
  EXPECT_TRUE(fs::exists(CachedProbe(ProbeCache(probes_), torch).parent_path() / "failed.txt"));
}

TEST_F(ProbeBuild, BuildsWhatARunLacked) {
  Write("probes/sources/one.cpp", "int One() { return 1; }\n");
  Write("bin/cxx", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho made > \"$1\"\n", true);
  setenv("CXX", (root_ / "bin/cxx").c_str(), 1);
  EXPECT_FALSE(BuildMissingProbe(probes_, root_ / "run", signals_));
  Write("run/torch-without-probe", "/site/torch\n2.9.1+cpu\n1\n");
  EXPECT_TRUE(BuildMissingProbe(probes_, root_ / "run", signals_));
  unsetenv("CXX");
  EXPECT_TRUE(fs::exists(CachedProbe(ProbeCache(probes_), {"/site/torch", "2.9.1+cpu", true})));
}

TEST_F(ProbeBuild, PutsWhatWasLinkedIntoTheCache) {
  Write("probes/sources/one.cpp", "int One() { return 1; }\n");
  // A stand-in for a compiler: writes the requested file.
  Write("bin/cxx", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho made > \"$1\"\n", true);
  setenv("CXX", (root_ / "bin/cxx").c_str(), 1);
  const TorchInstall torch{root_ / "torch", "2.9.1", true};
  const auto built = BuildProbe(probes_, torch, signals_);
  unsetenv("CXX");
  ASSERT_TRUE(built) << built.error().Message();
  EXPECT_TRUE(fs::exists(CachedProbe(ProbeCache(probes_), torch)));
}

}  // namespace
}  // namespace loopscope
