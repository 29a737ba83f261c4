#include "probes/environment.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace loopscope::env {
namespace {

using Variables = std::map<std::string, std::string>;

std::pair<int, int> RankOf(const Variables& variables) {
  const Rank rank = RankFrom([&](const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
  return {rank.rank, rank.size};
}

constexpr std::pair kAlone{-1, 1};

TEST(Rank, EachLauncherNumbersItsRanks) {
  for (const RankVariables& names : kRankVariables) {
    EXPECT_EQ(RankOf({{names.rank, "2"}, {names.size, "4"}}), std::pair(2, 4)) << names.rank;
  }
}

TEST(Rank, BothVariablesAreNeeded) {
  EXPECT_EQ(RankOf({}), kAlone);
  EXPECT_EQ(RankOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), kAlone);  // a batch script
  EXPECT_EQ(RankOf({{"PMIX_RANK", "1"}}), kAlone);
  EXPECT_EQ(RankOf({{"RANK", "1"}, {"PMI_RANK", "2"}, {"PMI_SIZE", "3"}}), std::pair(2, 3));
}

TEST(Rank, TheOnlyTaskOfAJobIsAlone) {
  EXPECT_EQ(RankOf({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), kAlone);
}

TEST(Rank, TheInnermostLauncherDecides) {
  Variables variables = {{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}};
  EXPECT_EQ(RankOf(variables), std::pair(3, 4));
  variables.insert({{"RANK", "5"}, {"WORLD_SIZE", "8"}});
  EXPECT_EQ(RankOf(variables), std::pair(5, 8));
  variables["RANK"] = "0", variables["WORLD_SIZE"] = "1";  // one torchrun in each task, which do not train together
  EXPECT_EQ(RankOf(variables), kAlone);
}

TEST(Rank, WhatIsNoRankIsPassedOver) {
  for (const char* rank : {"", "x", "1x", "-1", "2", "99999999999999999999"}) {
    EXPECT_EQ(RankOf({{"RANK", rank}, {"WORLD_SIZE", "2"}}), kAlone) << rank;
    EXPECT_EQ(RankOf({{"RANK", rank}, {"WORLD_SIZE", "2"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), std::pair(0, 2));
  }
}

}  // namespace
}  // namespace loopscope::env
