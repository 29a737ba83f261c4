// Writes the exports that fuzzing starts from into the folder named: `nsys_seeds FOLDER`.
#include <cstdio>
#include <filesystem>

#include "tests/support/nsys_builder.h"

namespace {

using loopscope::test::GlobalTid;
using loopscope::test::NsysBuilder;

void AddSteps(NsysBuilder& nsys, std::int64_t pid, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t at = 1'000'000 * step;
    nsys.Range(pid, 7, "step " + std::to_string(step), at, at + 900'000);
    nsys.Range(pid, 7, "aten::mm, seq = " + std::to_string(step) + ", op_id = 9, sizes = [[2, 3], [3]]", at + 10,
               at + 90);
    nsys.Range(pid, 7, "backward", at + 100, at + 200);
    nsys.Call(pid, 7, "cudaMemcpyAsync_v3020", at + 20, at + 30, 3 + step);
    nsys.Kernel(pid, 0, 7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 40, at + 80, 3 + step);
  }
}

void AddOneOfEach(NsysBuilder& nsys) {
  const std::string process = std::to_string(GlobalTid(5)), thread = std::to_string(GlobalTid(5, 7));
  const std::string wait = std::to_string(nsys.String("pthread_cond_wait"));
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 20, 0, 7, 1, " + process + ", 64, 1, 0, 2)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (30, 40, 0, 7, 2, " + process + ", 64)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (50, 60, 0, 7, 3, " + process + ", 2)");
  nsys.Run("INSERT INTO OSRT_API VALUES (10, 90, " + thread + ", " + wait + ")");
  nsys.Run("INSERT INTO ThreadNames VALUES (" + wait + ", " + thread + ")");
  nsys.Run("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', 'python'), ('PROCESS_0:ARGUMENT_0', 'x')");
  nsys.Run("INSERT INTO TARGET_INFO_GPU VALUES (0, 'GPU')");
  nsys.Run("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 5)");
  nsys.Run("INSERT INTO DIAGNOSTIC_EVENT VALUES (3, 'failed')");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: nsys_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  NsysBuilder one(folder / "steps.sqlite"), two(folder / "two.sqlite");
  AddSteps(one, 5, 6);
  AddOneOfEach(one);
  AddSteps(two, 5, 4);
  AddSteps(two, 6, 4);
  return 0;
}
