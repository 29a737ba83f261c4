#include <gtest/gtest.h>

#include "probes/cupti/calls.h"

namespace loopscope {
namespace {

TEST(CuptiCalls, ThoseThatLaunchCopyAllocateOrWait) {
  for (const char* name : {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "cudaGraphLaunch_v10000",
                           "cudaMemcpyAsync_v3020", "cudaStreamSynchronize_ptsz_v7000", "cudaStreamWaitEvent_v3020",
                           "cuLaunchKernelEx", "cuMemcpyDtoHAsync_v2", "cuMemAlloc_v2", "cuCtxSynchronize"}) {
    EXPECT_TRUE(IsRecordedCall(name)) << name;
  }
}

TEST(CuptiCalls, GrowingSegmentsAreMappedAndUnmapped) {
  for (const char* name : {"cuMemCreate", "cuMemMap", "cuMemUnmap", "cuMemRelease", "cuMemSetAccess"}) {
    EXPECT_TRUE(IsRecordedCall(name)) << name;
  }
}

TEST(CuptiCalls, UnderscoresInFrontDoNotMatter) {
  EXPECT_TRUE(IsRecordedCall("__cudaLaunchKernel_v13000"));
  EXPECT_TRUE(IsRecordedCall("__cudaLaunchKernel_ptsz_v13000"));
  EXPECT_FALSE(IsRecordedCall("__cudaGetKernel"));
}

TEST(CuptiCalls, NoOthers) {
  for (const char* name : {"cudaGetDevice_v3020", "cudaEventRecord_v3020", "cuCtxGetCurrent", "cuMemGetInfo_v2", "",
                           "___", "xcudaLaunchKernel"}) {
    EXPECT_FALSE(IsRecordedCall(name)) << name;
  }
}

}  // namespace
}  // namespace loopscope
