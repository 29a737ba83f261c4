#include "profiler/system/folders.h"

#include <sys/vfs.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace loopscope {
namespace {

// statfs(2), and the sources of those that Linux itself does not hold.
constexpr std::array<std::uint32_t, 13> kNetwork = {
    0x6969,      // NFS
    0x517b,      // SMB
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB 2
    0x00c36400,  // Ceph
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x5346414f,  // AFS
    0x01021997,  // 9P
    0x01161970,  // GFS2
    0x7461636f,  // OCFS2
    0x65735546,  // FUSE
};

}  // namespace

bool IsOnNetwork(const std::filesystem::path& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return false;
  return std::ranges::find(kNetwork, static_cast<std::uint32_t>(facts.f_type)) != kNetwork.end();
}

std::filesystem::path UserCache() {
  for (const auto& [name, below] : {std::pair{"XDG_CACHE_HOME", ""}, std::pair{"HOME", ".cache"}}) {
    const char* const folder = std::getenv(name);
    if (folder != nullptr && *folder == '/') return std::filesystem::path(folder) / below;
  }
  return {};
}

}  // namespace loopscope
