#include "profiler/core/host.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>

#include "profiler/core/file_text.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// The value of the first "key : value" line.
std::string Field(std::string_view text, std::string_view key) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t start = colon == line.npos ? line.npos : line.find_first_not_of(" \t", colon + 1);
    if (start != line.npos) return line.substr(start, line.find_last_not_of(" \t\r") - start + 1);
  }
  return "";
}

int AffinityCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::optional<double> Smaller(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// The tightest quota from `group` up to the root of the hierarchy mounted at `mount`.
template <class Read>
std::optional<double> TightestQuota(const fs::path& mount, std::string group, Read read) {
  std::optional<double> tightest;
  for (fs::path at = fs::path(group).relative_path();; at = at.parent_path()) {
    tightest = Smaller(tightest, read(mount / at));
    if (at.empty()) return tightest;
  }
}

std::optional<double> CgroupCores(std::string_view membership) {
  std::optional<double> cores;
  for (const auto& [controllers, group] : CgroupsOf(membership)) {
    if (controllers.empty()) {
      const auto read = [](const fs::path& at) { return CoresOfCpuMax(FileText(at / "cpu.max")); };
      cores = Smaller(cores, TightestQuota("/sys/fs/cgroup", group, read));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      const auto read = [](const fs::path& at) {
        return CoresOfCfs(FileText(at / "cpu.cfs_quota_us"), FileText(at / "cpu.cfs_period_us"));
      };
      cores = Smaller(cores, TightestQuota("/sys/fs/cgroup/" + controllers, group, read));
    }
  }
  return cores;
}

std::vector<std::string> Gpus() {
  std::vector<std::string> gpus;
  std::error_code ignored;
  for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    gpus.push_back(Field(FileText(gpu.path() / "information"), "Model"));
  }
  if (!gpus.empty()) return gpus;
  // Containers may show the devices without the driver's files.
  const auto next = [&] { return "/dev/nvidia" + std::to_string(gpus.size()); };
  while (fs::exists(next(), ignored)) gpus.emplace_back("an NVIDIA GPU");
  return gpus;
}

}  // namespace

std::optional<double> CoresOfCpuMax(std::string_view text) {
  std::istringstream fields{std::string(text)};
  double quota = 0, period = 0;
  if (!(fields >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> CoresOfCfs(std::string_view quota, std::string_view period) {
  return CoresOfCpuMax(std::string(quota) + " " + std::string(period));
}

std::vector<std::pair<std::string, std::string>> CgroupsOf(std::string_view membership) {
  std::vector<std::pair<std::string, std::string>> groups;
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    groups.emplace_back(line.substr(first + 1, second - first - 1), line.substr(second + 1));
  }
  return groups;
}

std::vector<std::string> FeaturesOf(std::string_view cpuinfo) {
  const std::string flags = " " + Field(cpuinfo, "flags") + " ";
  std::vector<std::string> features;
  for (const std::string name : {"avx512_bf16", "amx_bf16", "avx512_fp16", "amx_fp16"}) {
    if (flags.find(" " + name + " ") != flags.npos) features.push_back(name);
  }
  return features;
}

Host ThisHost() {
  const std::string cpuinfo = FileText("/proc/cpuinfo");
  Host host;
  host.cpu = Field(cpuinfo, "model name");
  host.features = FeaturesOf(cpuinfo);
  host.gpus = Gpus();
  host.cores = AffinityCores();
  if (const auto quota = CgroupCores(FileText("/proc/self/cgroup"))) {
    host.cores = std::clamp(static_cast<int>(std::ceil(*quota)), 1, host.cores);
  }
  return host;
}

}  // namespace loopscope
