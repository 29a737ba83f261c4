#include "profiler/core/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Host, ReadsTheQuotaOfBothCgroupVersions) {
  EXPECT_EQ(CoresOfCpuMax("200000 100000\n"), 2.0);
  EXPECT_EQ(CoresOfCpuMax("150000 100000\n"), 1.5);
  EXPECT_EQ(CoresOfCpuMax("max 100000\n"), std::nullopt);
  EXPECT_EQ(CoresOfCpuMax(""), std::nullopt);
  EXPECT_EQ(CoresOfCpuMax("100000 0"), std::nullopt);
  EXPECT_EQ(CoresOfCfs("400000\n", "100000\n"), 4.0);
  EXPECT_EQ(CoresOfCfs("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(CoresOfCfs("", ""), std::nullopt);
}

TEST(Host, ReadsCgroupMembership) {
  EXPECT_THAT(CgroupsOf("0::/user.slice/a:b\n5:cpu,cpuacct:/docker/x\nbroken\n"),
              ElementsAre(Pair("", "/user.slice/a:b"), Pair("cpu,cpuacct", "/docker/x")));
}

TEST(Host, NamesOnlyWholeFlags) {
  EXPECT_THAT(FeaturesOf("model name : X\nflags\t\t: fpu avx512_bf16 avx512_fp16x amx_bf16\n"),
              ElementsAre("avx512_bf16", "amx_bf16"));
  EXPECT_THAT(FeaturesOf("flags : fpu sse2\n"), IsEmpty());
  EXPECT_THAT(FeaturesOf(""), IsEmpty());
}

TEST(Host, CoresFollowAffinity) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(ThisHost().cores, 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(ThisHost().cores, 1);
  EXPECT_LE(ThisHost().cores, CPU_COUNT(&before));
}

}  // namespace
}  // namespace loopscope
