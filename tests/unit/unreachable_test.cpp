#include <gtest/gtest.h>

#include "profiler/launch/program.h"

namespace loopscope {
namespace {

std::string Why(const std::vector<std::string>& command) {
  return WhyUnreachable(command).value_or("");
}

TEST(Unreachable, PythonThatIgnoresItsEnvironment) {
  EXPECT_NE(Why({"python3", "-I", "train.py"}).find("`python -I`"), std::string::npos);
  EXPECT_NE(Why({"/usr/bin/python3.11", "-uE", "train.py"}).find("`python -E`"), std::string::npos);
  EXPECT_NE(Why({"env", "A=1", "nice", "-n", "5", "python", "-W", "ignore", "-S", "train.py"}).find("`python -S`"),
            std::string::npos);
  EXPECT_NE(Why({"sh", "-c", "exec python -I train.py"}).find("`python -I`"), std::string::npos);
}

TEST(Unreachable, WhatBelongsToTheScriptIsNotAskedAbout) {
  EXPECT_EQ(Why({"python", "train.py", "-I"}), "");
  EXPECT_EQ(Why({"python", "-m", "trainer", "-E"}), "");
  EXPECT_EQ(Why({"python", "-W", "Ignore", "train.py"}), "");
  EXPECT_EQ(Why({"python", "-X", "importtime", "-u", "train.py"}), "");
  EXPECT_EQ(Why({"python", "train.py", "ssh", "docker"}), "");
  EXPECT_EQ(Why({"./sshtrain"}), "");
  EXPECT_EQ(Why({}), "");
}

TEST(Unreachable, OtherWorldsAndMachines) {
  EXPECT_NE(Why({"docker", "run", "image", "python", "train.py"}).find("inside it"), std::string::npos);
  EXPECT_NE(Why({"/usr/bin/ssh", "node1", "python", "train.py"}).find("another machine"), std::string::npos);
  EXPECT_NE(Why({"bash", "-lc", "ssh node1 python train.py"}).find("another machine"), std::string::npos);
  EXPECT_NE(Why({"sudo", "python", "train.py"}).find("`sudo loopscope"), std::string::npos);
  EXPECT_EQ(Why({"bash", "train.sh"}), "");
}

}  // namespace
}  // namespace loopscope
