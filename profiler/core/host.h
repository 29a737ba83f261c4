// What rules, treatments and reports need to know about the machine.
#pragma once

#include <string>
#include <vector>

namespace loopscope {

struct Host {
  std::string cpu;                    // model name
  int cores = 1;                      // min of affinity and cgroup quota, at least 1
  std::vector<std::string> features;  // "avx512_bf16", "amx_bf16", "avx512_fp16", "amx_fp16" where present
  std::vector<std::string> gpus;
};

Host ThisHost();

}  // namespace loopscope
