// What rules, treatments and reports need to know about the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loopscope {

struct Host {
  std::string cpu;                    // model name
  int cores = 1;                      // min of affinity and cgroup quota, at least 1
  std::vector<std::string> features;  // "avx512_bf16", "amx_bf16", "avx512_fp16", "amx_fp16" where present
  std::vector<std::string> gpus;
};

Host ThisHost();

// Parses, for ThisHost(), the kernel's files on how much of a machine a process may use.

// Cores that a cgroup v2 "cpu.max" ("200000 100000") allows; empty for "max" or anything unreadable.
std::optional<double> CoresOfCpuMax(std::string_view text);

// The same for cgroup v1's cpu.cfs_quota_us and cpu.cfs_period_us; a quota of -1 means no limit.
std::optional<double> CoresOfCfs(std::string_view quota, std::string_view period);

// (controllers, path) of each line of /proc/self/cgroup; the v2 line has no controllers.
std::vector<std::pair<std::string, std::string>> CgroupsOf(std::string_view membership);

// Which of "avx512_bf16", "amx_bf16", "avx512_fp16", "amx_fp16" the flags in /proc/cpuinfo list.
std::vector<std::string> FeaturesOf(std::string_view cpuinfo);

}  // namespace loopscope
