#include "profiler/commands/kept_experiments.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "profiler/containment/containment.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class KeptExperiments : public testing::Test {
 protected:
  KeptExperiments() : folder_(fs::path(testing::TempDir()) / "kept_experiments") {
    RemoveTree(folder_);
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    Write(folder_ / "project/train.py", "print('step')\n");
    Write(folder_ / "project/model.py", "layers = 3\n");
    Write(folder_ / "project/.venv/pyvenv.cfg", "");
    Write(folder_ / "project/.venv/package.py", "version = 1\n");
    Write(folder_ / "measured/journal.jsonl", "{\"plan\": 1}\n");
    Write(folder_ / "measured/diagnosis/rank-0.lscap", "capture");
    options_.command = "prove";
    // A version manager's script of that name, which answers nothing here.
    Write(folder_ / "bin/python3", "#!/bin/sh\nexit 1\n");
    fs::permissions(folder_ / "bin/python3", fs::perms::owner_all);
    Write(folder_ / "bin/loopscope", "this version");
    options_.program = {(folder_ / "bin/python3").native(), (folder_ / "project/train.py").native()};
  }

  Result<KeptExperiment> Kept() const {
    return KeptExperiment::Of(options_, {options_.program}, folder_ / "bin/loopscope");
  }
  void Keep() const { ASSERT_TRUE(Kept()->Keep(folder_ / "measured")); }
  // Whether what was kept is an answer now.
  bool Taken() {
    const fs::path output = folder_ / ("output-" + std::to_string(++outputs_));
    fs::create_directories(output);
    const bool taken = Kept()->Take(output).has_value();
    EXPECT_EQ(fs::exists(output / "journal.jsonl"), taken);
    if (taken) {
      EXPECT_EQ(Read(output / "diagnosis/rank-0.lscap"), "capture");
    }
    return taken;
  }

  fs::path folder_;
  Options options_;
  int outputs_ = 0;
};

TEST_F(KeptExperiments, AnEqualOneIsTaken) {
  EXPECT_FALSE(Taken());
  Keep();
  EXPECT_TRUE(Taken());
}

TEST_F(KeptExperiments, OutputsAndFormatsAskNothingElse) {
  Keep();
  options_.json = "other.json";
  options_.quiet = true;
  options_.output = "elsewhere";
  EXPECT_TRUE(Taken());
}

TEST_F(KeptExperiments, AnotherQuestionIsAnother) {
  Keep();
  options_.selection.only = {"amp"};
  EXPECT_FALSE(Taken());
  options_.selection.only.clear();
  options_.budget_s = 60;
  EXPECT_FALSE(Taken());
  options_.budget_s = Options().budget_s;
  options_.program.push_back("--epochs=2");
  EXPECT_FALSE(Taken());
}

TEST_F(KeptExperiments, AModuleOfTheProjectThatChangedIsAnotherProgram) {
  Keep();
  Write(folder_ / "project/model.py", "layers = 4\n");
  EXPECT_FALSE(Taken());
  Write(folder_ / "project/model.py", "layers = 3\n");
  EXPECT_TRUE(Taken()) << "as it was, whenever it was written";
}

TEST_F(KeptExperiments, InstalledPackagesAreNotLookedThrough) {
  Keep();
  Write(folder_ / "project/.venv/package.py", "version = 2\n");
  EXPECT_TRUE(Taken());
}

TEST_F(KeptExperiments, TheLatestIsKept) {
  Keep();
  Write(folder_ / "measured/journal.jsonl", "{\"plan\": 2}\n");
  Keep();
  const fs::path output = folder_ / "output";
  fs::create_directories(output);
  ASSERT_TRUE(Kept()->Take(output));
  EXPECT_EQ(Read(output / "journal.jsonl"), "{\"plan\": 2}\n");
}

TEST_F(KeptExperiments, ADifferentQuestionOfTheSameHashIsNoAnswer) {
  Keep();
  for (const auto& entry : fs::directory_iterator(folder_ / "cache/loopscope/experiments")) {
    Write(entry.path() / "question.txt", "another");
  }
  EXPECT_FALSE(Taken());
}

TEST_F(KeptExperiments, OnlySoManyAreKept) {
  for (int seed = 0; seed < 40; ++seed) {
    options_.seed = static_cast<std::uint64_t>(seed);
    Keep();
  }
  const fs::directory_iterator kept(folder_ / "cache/loopscope/experiments");
  EXPECT_EQ(std::distance(begin(kept), end(kept)), 32);
  EXPECT_TRUE(Taken()) << "the latest";
}

TEST_F(KeptExperiments, ACacheThatCannotBeWrittenIsSaid) {
  Write(folder_ / "cache/loopscope", "a file");
  const auto kept = Kept()->Keep(folder_ / "measured");
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().next.find("XDG_CACHE_HOME"), std::string::npos);
}

TEST_F(KeptExperiments, WithoutAHomeThereIsNoCache) {
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "", 1);
  EXPECT_FALSE(Kept());
}

}  // namespace
}  // namespace loopscope
