#include "profiler/launch/launcher.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "probes/environment.h"
#include "profiler/containment/output_folder.h"
#include "profiler/core/launch_text.h"
#include "profiler/core/text.h"
#include "profiler/launch/outcome.h"
#include "profiler/launch/program.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using Words = std::vector<std::string>;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("loopscope-process-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { RemoveTree(folder_); }

  ProcessEnd Run(Words command, double timeout_s = 20, const std::string& prepare = "") {
    ProcessSpec spec;
    spec.command = std::move(command);
    spec.environment = AsStrings(OwnEnvironment());
    spec.prepare_environment = spec.environment;
    spec.prepare = prepare;
    spec.role = Role::kTrial;
    spec.timeout_s = timeout_s;
    spec.output = folder_ / "output.txt";
    return RunProcess(spec, signals_);
  }
  ProcessEnd Shell(const std::string& script, double timeout_s = 20) { return Run({"sh", "-c", script}, timeout_s); }

  fs::path folder_;
  Signals signals_;
};

using How = ProcessEnd::How;

TEST_F(ProcessTest, TellsHowAProgramEnded) {
  EXPECT_TRUE(Shell("exit 0").ok());
  const ProcessEnd failed = Shell("echo first; echo last words >&2; exit 3");
  EXPECT_EQ(failed.how, How::kExited);
  EXPECT_EQ(failed.status, 3);
  EXPECT_EQ(failed.tail, "first\nlast words");
  const ProcessEnd killed = Shell("kill -SEGV $$");
  EXPECT_EQ(killed.how, How::kSignaled);
  EXPECT_EQ(killed.status, 128 + SIGSEGV);
}

TEST_F(ProcessTest, TellsWhyAProgramDidNotStart) {
  const ProcessEnd missing = Run({"/no/such/program"});
  EXPECT_EQ(missing.how, How::kNotStarted);
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(DescribeStart(missing, {"/no/such/program"}).Message(),
              AllOf(HasSubstr("/no/such/program: no such command"), HasSubstr("./train")));

  std::ofstream(folder_ / "plain") << "text";
  const std::string plain = folder_ / "plain";
  const ProcessEnd refused = Run({plain});
  EXPECT_EQ(refused.status, 126);
  EXPECT_THAT(DescribeStart(refused, {plain}).Message(), AllOf(HasSubstr("Permission denied"), HasSubstr("chmod +x")));

  std::ofstream(folder_ / "script") << "#!/no/such/interpreter\n";
  fs::permissions(folder_ / "script", fs::perms::owner_all);
  const std::string script = folder_ / "script";
  EXPECT_THAT(DescribeStart(Run({script}), {script}).Message(), HasSubstr("interpreter /no/such/interpreter does not"));
}

TEST_F(ProcessTest, EndsAProgramThatTakesTooLong) {
  const ProcessEnd end = Shell("trap '' TERM; echo started; while :; do sleep 1; done", 0.3);
  EXPECT_EQ(end.how, How::kTimeout);
  EXPECT_EQ(end.tail, "started");
}

TEST_F(ProcessTest, LeavesNoOrphans) {
  const std::string pids = folder_ / "pids";
  // One in the program's group, one in a session of its own; both outlive their parent.
  const ProcessEnd end = Shell("sleep 300 & echo $! > " + pids + "; setsid sh -c 'echo $$ >> " + pids +
                                   "; exec sleep 300' & while [ $(wc -l < " + pids + ") -lt 2 ]; do sleep 0.01; done",
                               1);
  EXPECT_TRUE(end.ok());
  std::istringstream lines(ReadAll(pids));
  int seen = 0;
  for (pid_t pid; lines >> pid; ++seen) EXPECT_EQ(kill(pid, 0), -1) << pid << " is still there";
  EXPECT_EQ(seen, 2);
}

TEST_F(ProcessTest, WaitsForWhatATrialLeavesWorking) {
  const std::string late = folder_ / "late";
  EXPECT_TRUE(Shell("(sleep 0.3; echo done > " + late + ") &").ok());
  EXPECT_EQ(ReadAll(late), "done\n");
}

TEST_F(ProcessTest, ATrialHasNoDescriptorsOfOurs) {
  const int open_here = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  EXPECT_TRUE(Shell("! [ -e /proc/self/fd/" + std::to_string(open_here) + " ]").ok());
  close(open_here);
}

TEST_F(ProcessTest, ATrainingGetsTheSignalsThatCanBePassedOn) {
  for (const int signal :
       {SIGUSR1, SIGUSR2, SIGALRM, SIGQUIT, SIGURG, SIGWINCH, SIGXCPU, SIGVTALRM, SIGIO, SIGRTMIN + 3}) {
    ProcessSpec spec;
    const std::string ready = folder_ / ("ready" + std::to_string(signal));
    spec.command = {"bash", "-c",
                    "trap 'exit 7' " + std::to_string(signal) + "; touch " + ready + "; while :; do sleep 0.02; done"};
    spec.environment = AsStrings(OwnEnvironment());
    // From another process: in this one any thread might receive it.
    const std::string send = "(while ! [ -e " + ready + " ]; do sleep 0.02; done; kill -" + std::to_string(signal) +
                             " " + std::to_string(getpid()) + ") &";
    ASSERT_EQ(std::system(send.c_str()), 0);
    const ProcessEnd end = RunProcess(spec, signals_);
    EXPECT_EQ(end.status, 7) << signal;
  }
  EXPECT_FALSE(signals_.interrupted());
}

TEST_F(ProcessTest, ATrainingThatHandlesInterruptsIsNeverKilled) {
  ProcessSpec spec;
  const std::string ready = folder_ / "ready", saved = folder_ / "saved";
  spec.command = {"bash", "-c",
                  "n=0; trap 'n=$((n + 1))' INT TERM; touch " + ready +
                      "; while [ $n -lt 2 ]; do sleep 0.02; done; sleep 0.5; echo whole > " + saved};
  spec.environment = AsStrings(OwnEnvironment());
  std::thread sender([&] {
    while (!fs::exists(ready)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int i = 0; i < 2; ++i) {
      kill(getpid(), i == 0 ? SIGINT : SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const ProcessEnd end = RunProcess(spec, signals_);
  sender.join();
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(ReadAll(saved), "whole\n");
  EXPECT_TRUE(signals_.interrupted());
}

TEST_F(ProcessTest, WhatATrainingLeavesWorkingGoesOn) {
  ProcessSpec spec;
  const std::string late = folder_ / "late";
  spec.command = {"sh", "-c", "(sleep 0.3; echo done > " + late + ") & echo $! > " + (folder_ / "pid").native()};
  spec.environment = AsStrings(OwnEnvironment());
  EXPECT_TRUE(RunProcess(spec, signals_).ok());
  EXPECT_FALSE(fs::exists(late));
  for (int i = 0; i < 400 && !fs::exists(late); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(ReadAll(late), "done\n");
}

TEST(Rerunnable, RefusesWhatOnlyTheFirstStartCouldRead) {
  for (const Words& command : {Words{"./train", "/dev/fd/63"}, Words{"./train", "--data=/proc/self/fd/5"},
                               Words{"python", "-"}, Words{"python3", "-u", "-"}, Words{"bash", "-s"}, Words{"python"},
                               Words{"./train", "/dev/stdin"}, Words{"sh", "-c", "./train >&5"}}) {
    const auto can = CheckRerunnable(command);
    ASSERT_FALSE(can) << command.back();
    EXPECT_EQ(can.error().exit_code, 2);
  }
  for (const Words& command :
       {Words{"./train", "/dev/fd/1"}, Words{"python", "train.py", "-"}, Words{"python", "-m", "train"},
        Words{"sh", "-c", "exec 5>log; ./train >&5"}, Words{"sh", "-c", "./train 2>&1"}, Words{"bash", "run.sh"}}) {
    EXPECT_TRUE(CheckRerunnable(command)) << command.back();
  }
}

TEST_F(ProcessTest, AnInterruptEndsATrialAndIsRemembered) {
  const pid_t self = getpid();
  std::thread interrupt([&] {
    while (ReadAll(folder_ / "output.txt").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(self, SIGINT);
  });
  const ProcessEnd end = Shell("echo ready; exec sleep 300");
  interrupt.join();
  EXPECT_EQ(end.how, How::kInterrupted);
  EXPECT_TRUE(signals_.interrupted());
}

TEST_F(ProcessTest, PreparesBeforeAndStopsWhenThatFails) {
  const std::string made = folder_ / "made";
  EXPECT_TRUE(Run({"test", "-e", made}, 20, "touch " + made).ok());
  const ProcessEnd failed = Run({"true"}, 20, "echo no disk; exit 1");
  EXPECT_EQ(failed.how, How::kNotStarted);
  EXPECT_THAT(DescribeStart(failed, {"true"}).Message(), AllOf(HasSubstr("--prepare"), HasSubstr("no disk")));
}

TEST(Outcome, SaysWhatWhereAndWhatToDo) {
  const Words command = {"./train", "--name", "a b"};
  ProcessEnd end;
  end.how = How::kExited;
  end.status = 1;
  end.tail = "bad_alloc";
  const auto message = [&](const Seen& seen) { return DescribeOutcome(end, command, seen).value().Message(); };
  EXPECT_THAT(message({true, "", 0}),
              AllOf(HasSubstr("./train --name 'a b': the program ended with status 1 before its "
                              "first step"),
                    HasSubstr("bad_alloc"), HasSubstr("without Loopscope")));
  EXPECT_EQ(DescribeOutcome(end, command, {true, "", 0})->exit_code, 4);
  end.how = How::kSignaled;
  end.status = 137;
  EXPECT_THAT(message({true, "", 37}), AllOf(HasSubstr("signal 9 (Killed) after 37 steps"), HasSubstr("is kept")));
  end.how = How::kExited;
  end.status = 0;
  EXPECT_THAT(message({true, "", 0}), AllOf(HasSubstr("without a training step"), HasSubstr("StepEnd")));
  EXPECT_EQ(DescribeOutcome(end, command, {true, "", 0})->exit_code, 3);
  EXPECT_FALSE(DescribeOutcome(end, command, {true, "", 12}).has_value());
  end.how = How::kInterrupted;
  EXPECT_THAT(message({true, "", 12}), HasSubstr("was interrupted after 12 steps"));
  EXPECT_EQ(DescribeOutcome(end, command, {true, "", 12})->exit_code, 3);
  end.how = How::kExited;
  EXPECT_THAT(DescribeOutcome(end, {"/bin/sh"}, {false, "", 0})->Message(),
              AllOf(HasSubstr("no LibTorch program"), HasSubstr("not linked with libtorch_cpu.so")));
  EXPECT_THAT(message({false, "newer major 9", 0}), HasSubstr("newer major 9"));
}

TEST(ProgramKind, ReadsWhatKindOfProgramItIs) {
  EXPECT_EQ(InspectProgram("/bin/sh").kind, ProgramKind::kDynamic);
  EXPECT_EQ(InspectProgram("sh").path.filename(), "sh");
  EXPECT_EQ(InspectProgram("/no/such").kind, ProgramKind::kMissing);
  EXPECT_THAT(LinkedLibraries(InspectProgram("/bin/sh")), Contains(HasSubstr("libc.so")));
  const std::string script = testing::TempDir() + "loopscope-kind";
  std::ofstream(script) << "#!/usr/bin/env python3\n";
  EXPECT_EQ(InspectProgram(script).kind, ProgramKind::kPython);
  std::ofstream(script) << "#!/bin/bash -e\n";
  EXPECT_EQ(InspectProgram(script).interpreter, "/bin/bash");
  EXPECT_EQ(InspectProgram(script).kind, ProgramKind::kScript);
  std::ofstream(script) << "not a program";
  EXPECT_EQ(InspectProgram(script).kind, ProgramKind::kForeign);
  fs::remove(script);
}

TEST(LaunchEnvironment, TellsTheProbesWhatToDo) {
  LaunchSpec spec;
  spec.treatment = {{"loader.workers", "4"}, {"threads", "2"}};
  spec.warmup = 3;
  spec.steps = 9;
  spec.clock = "optimizer:SGD#1";
  spec.seed = 5;
  const Environment base = {
      {"LD_PRELOAD", "/lib/other.so"}, {"LOOPSCOPE_UNTIL", "epoch"}, {"OMP_NUM_THREADS", "8"}, {"PYTHONPATH", "/mine"}};
  const Environment made =
      LaunchEnvironment(base, spec, {"/run/1", "/run/1/files", true},
                        {"/probes/preload.so", "/probes/nvtx.so", "/probes/cupti.so", "/probes/python/site"});
  for (const auto& [name, value] : Environment{{"LD_PRELOAD", "/probes/preload.so:/lib/other.so"},
                                               {"LOOPSCOPE_PRELOAD", "/probes/preload.so"},
                                               {"NVTX_INJECTION64_PATH", "/probes/nvtx.so"},
                                               {"PYTHONPATH", "/probes/python/site:/mine"},
                                               {"LOOPSCOPE_RUN_DIR", "/run/1"},
                                               {"LOOPSCOPE_LAUNCH_DIR", "/run/1/files"},
                                               {"LOOPSCOPE_MODE", "clock"},
                                               {"LOOPSCOPE_WARMUP", "3"},
                                               {"LOOPSCOPE_STEPS", "9"},
                                               {"LOOPSCOPE_CLOCK", "optimizer:SGD#1"},
                                               {"LOOPSCOPE_SEED", "5"},
                                               {"PYTHONHASHSEED", "5"},
                                               {"LOOPSCOPE_TREATMENT", "loader.workers=4;threads=2"},
                                               {"OMP_NUM_THREADS", "2"},
                                               {"MKL_NUM_THREADS", "2"},
                                               {"WANDB_MODE", "disabled"}}) {
    EXPECT_THAT(made, Contains(Pair(name, value)));
  }
  EXPECT_EQ(made.count("LOOPSCOPE_UNTIL"), 0u);
  EXPECT_EQ(made.count("LOOPSCOPE_SAMPLE_RNG"), 0u);
  EXPECT_EQ(made.count("CUDA_INJECTION64_PATH"), 0u) << "no collector in a timed trial";
}

TEST(LaunchEnvironment, MergesTheAllocatorsSettings) {
  LaunchSpec spec;
  spec.treatment = {{"alloc.expandable", "on"}};
  const auto made = [&](const Environment& base) {
    return LaunchEnvironment(base, spec, {"/run/1", "/run/1/files", true}, {"/p/preload.so", "", "", ""});
  };
  const std::string old_name = "PYTORCH_CUDA_ALLOC_CONF", new_name = "PYTORCH_ALLOC_CONF";
  EXPECT_THAT(made({}), Contains(Pair(old_name, "expandable_segments:True")));
  EXPECT_EQ(made({}).count(new_name), 0u);
  EXPECT_THAT(
      made({{old_name, "expandable_segments:False,roundup_power2_divisions:[256:1,512:2],max_split_size_mb:64"}}),
      Contains(Pair(old_name,
                    "roundup_power2_divisions:[256:1,512:2],max_split_size_mb:64,"
                    "expandable_segments:True")));
  const Environment both = made({{old_name, "a:1"}, {new_name, "b:2"}});
  EXPECT_THAT(both, Contains(Pair(new_name, "b:2,expandable_segments:True")));
  EXPECT_THAT(both, Contains(Pair(old_name, "a:1")));
  spec.treatment = {{"alloc.expandable", "off"}};
  EXPECT_THAT(made({{new_name, ""}}), Contains(Pair(new_name, "expandable_segments:False")));
}

TEST(LaunchEnvironment, ProbesReadTheTreatmentsThatItWrites) {
  using Settings = std::vector<std::pair<std::string, std::string>>;
  const auto read = [](std::string_view text) {
    Settings settings;
    env::ForEachSetting(text, [&](std::string_view key, std::string_view value) { settings.emplace_back(key, value); });
    return settings;
  };
  const Settings all{{"loader.workers", "4"}, {"amp", "bf16"}, {"schedule", ""}};
  EXPECT_EQ(read(TreatmentSettings(all)), all);
  EXPECT_EQ(read(";;amp;=x;a=b=c;"), (Settings{{"", "x"}, {"a", "b=c"}}));
  EXPECT_THAT(read(""), IsEmpty());
}

TEST(LaunchEnvironment, LeavesTheRealRunAsItIs) {
  LaunchSpec spec;
  spec.mode = LaunchMode::kTrace;
  spec.time_s = 30;
  const Environment made =
      LaunchEnvironment({{"NVTX_INJECTION64_PATH", "/other/tool.so"}}, spec, {"/run/1", "/run/1/files", false},
                        {"/p/preload.so", "/p/nvtx.so", "/p/cupti.so", ""});
  EXPECT_THAT(made, Contains(Pair("NVTX_INJECTION64_PATH", "/other/tool.so")));
  EXPECT_THAT(made, Contains(Pair("CUDA_INJECTION64_PATH", "/p/cupti.so")));
  EXPECT_THAT(made, Contains(Pair("LOOPSCOPE_TIME", "30")));
  EXPECT_THAT(made, Contains(Pair("LOOPSCOPE_UNTIL", "epoch")));
  for (const char* absent : {"WANDB_MODE", "PYTHONPATH", "LOOPSCOPE_SEED", "LOOPSCOPE_TREATMENT", "LOOPSCOPE_CLOCK"}) {
    EXPECT_EQ(made.count(absent), 0u) << absent;
  }
}

TEST(LaunchEnvironment, KeepsWhatTheUserAsksFor) {
  LaunchSpec spec;
  spec.mode = LaunchMode::kTrace;
  const ProbePaths probes{
      .preload = "/p/preload.so", .nvtx = {}, .cupti = "/p/cupti.so", .python = {}, .nccl = "/p/nccl.so"};
  const Environment asked = {{"LOOPSCOPE_NCCL", "1"},
                             {"LOOPSCOPE_CUPTI_ALL", "1"},
                             {"LOOPSCOPE_RANK_TIMEOUT", "5"},
                             {"LOOPSCOPE_CAPTURE_LIMIT", "1000000"},
                             {"LOOPSCOPE_SEED", "of a run around this one"},
                             {"CUDA_INJECTION64_PATH", ""}};
  const Environment made = LaunchEnvironment(asked, spec, {"/run/1", "/run/1/files", false}, probes);
  for (const char* own :
       {"LOOPSCOPE_NCCL", "LOOPSCOPE_CUPTI_ALL", "LOOPSCOPE_RANK_TIMEOUT", "LOOPSCOPE_CAPTURE_LIMIT"}) {
    EXPECT_THAT(made, Contains(Pair(own, asked.at(own))));
  }
  EXPECT_EQ(made.count("LOOPSCOPE_SEED"), 0u);
  EXPECT_THAT(made, Contains(Pair("NCCL_PROFILER_PLUGIN", "/p/nccl.so")));
  EXPECT_THAT(made, Contains(Pair("CUDA_INJECTION64_PATH", "/p/cupti.so")));
  EXPECT_EQ(LaunchEnvironment({}, spec, {"/run/1", "/run/1/files", false}, probes).count("NCCL_PROFILER_PLUGIN"), 0u);
}

TEST(LaunchEnvironment, WritesDownWhatMattersAndNoSecret) {
  const Environment recorded = RecordedEnvironment({{"OMP_NUM_THREADS", "2"},
                                                    {"CUDA_LAUNCH_BLOCKING", "1"},
                                                    {"TORCH_HUB_TOKEN", "x"},
                                                    {"NCCL_AUTH_key", "x"},
                                                    {"RANK", "3"},
                                                    {"HOME", "/home/me"},
                                                    {"AWS_SECRET_ACCESS_KEY", "x"}});
  EXPECT_EQ(recorded, (Environment{{"OMP_NUM_THREADS", "2"}, {"CUDA_LAUNCH_BLOCKING", "1"}, {"RANK", "3"}}));
}

TEST(OutputFolder, MustBeWritableAndFree) {
  const fs::path base = fs::path(testing::TempDir()) / ("loopscope-output-" + std::to_string(getpid()));
  const auto made = MakeOutputFolder(base / "a/b", false);
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(fs::is_empty(*made)) << "nothing is left of the trial";
  std::ofstream(*made / "run.json") << "{}";
  const auto taken = MakeOutputFolder(base / "a/b", false);
  ASSERT_FALSE(taken.ok());
  EXPECT_THAT(taken.error().Message(), AllOf(HasSubstr("holds another run"), HasSubstr("-o DIR")));
  EXPECT_TRUE(MakeOutputFolder(base / "a/b", true).ok());
  std::ofstream(base / "file") << "x";
  const auto file = MakeOutputFolder(base / "file", false);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().exit_code, 2);
  EXPECT_FALSE(MakeOutputFolder("/proc/nothing/here", false).ok());
  fs::remove_all(base);
}

TEST(OutputFolder, ScratchIsPrivateAndGoesAway) {
  fs::path path;
  {
    auto scratch = Scratch::Make();
    ASSERT_TRUE(scratch.ok());
    path = scratch->path();
    struct stat facts;
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700u);
    fs::create_directories(path / "sealed/inner");
    fs::permissions(path / "sealed", fs::perms::none);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(OutputFolder, ScratchOfADeadProcessIsClearedButForRecordings) {
  std::string base = fs::temp_directory_path() / "leftovers-XXXXXX";
  ASSERT_NE(mkdtemp(base.data()), nullptr);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", base.c_str(), 1);
  const fs::path dead = fs::path(base) / "loopscope-dead00", recorded = fs::path(base) / "loopscope-dead01";
  for (const fs::path& one : {dead, recorded}) {
    fs::create_directories(one / "launches");
    std::ofstream(one / "owner") << "";
  }
  std::ofstream(recorded / "launches/1.cap") << "x";
  fs::create_directories(fs::path(base) / "loopscope-others");  // by hand, or of another version
  {
    const auto first = Scratch::Make();
    const auto second = Scratch::Make();
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_THAT(first->left(), testing::ElementsAre(recorded));
    EXPECT_TRUE(fs::exists(first->path()) && fs::exists(fs::path(base) / "loopscope-others"));
    EXPECT_FALSE(fs::exists(dead));
  }
  kept.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  fs::remove_all(base);
}

TEST(Launcher, NamesFoldersAfterLabels) {
  EXPECT_EQ(FileLabel("block 3, ALL-amp"), "block-3-ALL-amp");
  EXPECT_EQ(FileLabel("../../x y/"), "..-..-x-y");
  EXPECT_THAT(FileLabel(std::string(500, 'a')).size(), 80u);
  EXPECT_THAT(LastLines("a\nb\nc\n\n", 2), "b\nc");
  EXPECT_THAT(LastLines("", 2), IsEmpty());
  EXPECT_THAT(LastLines(std::string(5000, 'x'), 2).size(), 2048u);
}

}  // namespace
}  // namespace loopscope
