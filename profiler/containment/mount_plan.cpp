#include "profiler/containment/mount_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// Kernel interfaces and sockets live here, not files that training leaves behind.
constexpr std::array<std::string_view, 4> kLeft = {"/proc", "/sys", "/dev", "/run"};

constexpr std::array<std::string_view, 20> kPseudo = {
    "proc",    "sysfs",       "devtmpfs", "devpts",    "cgroup",   "cgroup2",   "securityfs",
    "debugfs", "tracefs",     "mqueue",   "hugetlbfs", "bpf",      "pstore",    "configfs",
    "fusectl", "binfmt_misc", "autofs",   "nsfs",      "efivarfs", "rpc_pipefs"};

bool Below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool IsLeft(std::string_view path) {
  return std::ranges::any_of(kLeft, [&](auto left) { return path == left || Below(path, left); });
}

bool IsPseudo(const MountPoint& mount) {
  return std::ranges::find(kPseudo, mount.type) != kPseudo.end();
}

// Whether this is a folder of files that survive a reboot: a removable drive below /run/media, for example.
bool IsDisk(const MountPoint& mount) {
  std::error_code error;
  const bool in_memory = mount.type == "tmpfs" || mount.type == "ramfs" || mount.type.starts_with("fuse.");
  return !IsPseudo(mount) && !in_memory && fs::is_directory(mount.path, error);
}

// mountinfo writes blanks, newlines and backslashes as \ooo.
std::string Unescape(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size()) {
      text += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0'));
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

// The last of the innermost steps that hold `path`; null where none does.
const MountStep* Innermost(const MountPlan& plan, const fs::path& path) {
  const std::string target = plan.root + path.lexically_normal().native();
  const MountStep* innermost = nullptr;
  for (const MountStep& step : plan.steps) {
    if (target != step.target && !Below(target, step.target)) continue;
    if (innermost == nullptr || step.target.size() >= innermost->target.size()) innermost = &step;
  }
  return innermost;
}

class Planner {
 public:
  Planner(const MountRequest& request, const std::vector<MountPoint>& mounts) : request_(request), mounts_(mounts) {
    plan_.root = request.root;
    plan_.layers = request.layers;
  }

  MountPlan Plan() {
    for (const fs::path& entry : Entries("/")) AddTop(entry);
    for (const MountPoint& mount : mounts_) {
      const bool top = mount.path == "/" || fs::path(mount.path).parent_path() == "/";
      if (!top && !IsLeft(mount.path)) AddNested(mount);
      if (!top && IsLeft(mount.path) && IsDisk(mount)) AddNested(mount);
    }
    AddSharedMemory("/dev/shm");
    for (const FilledCache& cache : request_.caches) AddCache(cache);
    Add(MountStep::Kind::kHidden, "", request_.hidden);
    Add(MountStep::Kind::kBind, request_.writable, request_.writable);
    return std::move(plan_);
  }

 private:
  static std::vector<fs::path> Entries(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
    std::ranges::sort(entries);
    return entries;
  }

  void Add(MountStep::Kind kind, const std::string& source, const std::string& target) {
    plan_.steps.push_back({kind, source, plan_.root + target, ""});
  }

  void AddTop(const fs::path& entry) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(entry, error);
    if (fs::is_symlink(status)) {
      Add(MountStep::Kind::kSymlink, fs::read_symlink(entry, error), entry);
    } else if (!fs::is_directory(status)) {
      Add(MountStep::Kind::kFile, entry, entry);
    } else if (IsLeft(entry.native())) {
      Add(MountStep::Kind::kBind, entry, entry);
    } else {
      AddTree(entry);
    }
  }

  void AddNested(const MountPoint& mount) {
    std::error_code error;
    const fs::file_status status = fs::status(mount.path, error);
    if (error || !fs::exists(status)) return;  // neither we nor the program can reach it
    if (!fs::is_directory(status)) {
      Add(MountStep::Kind::kFile, mount.path, mount.path);
    } else if (mount.read_only || IsPseudo(mount)) {
      Add(MountStep::Kind::kBind, mount.path, mount.path);
    } else {
      AddTree(mount.path);
    }
  }

  bool HoldsMount(std::string_view folder) const {
    return std::ranges::any_of(mounts_, [&](const auto& mount) { return Below(mount.path, folder); });
  }

  // A folder that one overlay cannot span is itself read-only, and its parts are overlaid one by one.
  void AddTree(const fs::path& folder) {
    if (!request_.user_namespace || !HoldsMount(folder.native())) return AddOverlay(folder);
    Add(MountStep::Kind::kReadOnlyBind, folder, folder);
    AddParts(folder);
  }

  void AddParts(const fs::path& folder) {
    for (const fs::path& part : Entries(folder)) {
      std::error_code error;
      if (!fs::is_directory(fs::symlink_status(part, error)) || IsMount(part.native())) continue;
      HoldsMount(part.native()) ? AddParts(part) : AddOverlay(part);
    }
  }

  bool IsMount(std::string_view path) const {
    return std::ranges::any_of(mounts_, [&](const auto& mount) { return mount.path == path; });
  }

  // The next layer's overlay at `target`, over `lower` (escaped); its root is like `source`.
  MountStep Overlay(MountStep::Kind kind, const fs::path& source, const fs::path& target, const std::string& lower) {
    const std::string layer = fmt::format("{}/{}", plan_.layers, plan_.overlays++);
    std::string options = fmt::format("lowerdir={},upperdir={},workdir={}", lower, EscapeOverlayPath(layer + "/upper"),
                                      EscapeOverlayPath(layer + "/work"));
    options += kind == MountStep::Kind::kOverlay ? ForRenames() : request_.user_namespace ? ",userxattr" : "";
    return {kind, source, plan_.root + target.native(), std::move(options), {{layer + "/upper", source}}};
  }

  // Allows renaming existing folders, which the kernel permits only for root.
  const char* ForRenames() const { return request_.user_namespace ? ",userxattr" : ",redirect_dir=on"; }

  void AddOverlay(const fs::path& folder) {
    MountStep step = Overlay(MountStep::Kind::kOverlay, folder, folder, EscapeOverlayPath(folder.native()));
    for (const fs::path& path : request_.likely) AddFolders(path, step);
    plan_.steps.push_back(std::move(step));
  }

  // Dataloader workers pass batches through it: backing it with a disk would slow them.
  void AddSharedMemory(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(folder, error))) return;
    const std::string layer = plan_.layers + "/memory";
    std::string options = fmt::format("lowerdir={},upperdir={},workdir={}", EscapeOverlayPath(folder.native()),
                                      EscapeOverlayPath(layer + "/upper"), EscapeOverlayPath(layer + "/work"));
    if (request_.user_namespace) options += ",userxattr";
    plan_.steps.push_back({MountStep::Kind::kMemory,
                           folder,
                           plan_.root + folder.native(),
                           std::move(options),
                           {{layer, folder}, {layer + "/upper", folder}, {layer + "/work", folder}}});
  }

  void AddCache(const FilledCache& cache) {
    if (HoldsMount(cache.path.native()) || !IsOverlaid(plan_, cache.path)) return;
    std::vector<std::string> lower;
    for (const fs::path& layer : cache.layers) lower.push_back(EscapeOverlayPath(layer.native()));
    std::error_code error;
    const bool real = fs::is_directory(cache.path, error);
    if (real) lower.push_back(EscapeOverlayPath(cache.path.native()));
    const fs::path& like = real ? cache.path : cache.layers.front();
    plan_.steps.push_back(Overlay(MountStep::Kind::kCache, like, cache.path, fmt::format("{}", fmt::join(lower, ":"))));
  }

  void AddFolders(const fs::path& path, MountStep& step) const {
    if (!request_.user_namespace || !Below(path.native(), step.source)) return;
    fs::path upper = step.folders.front().first, source = step.source;
    for (const fs::path& part : path.lexically_relative(source)) {
      step.folders.emplace_back(upper /= part, source /= part);
    }
  }

  const MountRequest& request_;
  const std::vector<MountPoint>& mounts_;
  MountPlan plan_;
};

}  // namespace

std::vector<MountPoint> ParseMountInfo(std::string_view text) {
  std::map<std::string, MountPoint> by_path;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string skip, path, options, type;
    for (int i = 0; i < 4; ++i) fields >> skip;
    fields >> path >> options;
    while (fields >> skip && skip != "-") {
    }
    if (!(fields >> type)) continue;
    path = Unescape(path);
    by_path[path] = {path, type, options == "ro" || options.starts_with("ro,")};
  }
  std::vector<MountPoint> mounts;
  for (auto& [path, mount] : by_path) mounts.push_back(std::move(mount));  // a folder before what lies in it
  return mounts;
}

MountPlan PlanMounts(const MountRequest& request, const std::vector<MountPoint>& mounts) {
  return Planner(request, mounts).Plan();
}

bool IsOverlaid(const MountPlan& plan, const fs::path& path) {
  using Kind = MountStep::Kind;
  const MountStep* const step = Innermost(plan, path);
  return step != nullptr && (step->kind == Kind::kOverlay || step->kind == Kind::kMemory || step->kind == Kind::kCache);
}

fs::path WrittenTo(const MountPlan& plan, const fs::path& path) {
  const MountStep* const step = Innermost(plan, path);
  if (step == nullptr || (step->kind != MountStep::Kind::kOverlay && step->kind != MountStep::Kind::kCache)) return {};
  const fs::path below = fs::path(plan.root + path.lexically_normal().native()).lexically_relative(step->target);
  const fs::path upper = step->folders.front().first;
  return below == "." ? upper : upper / below;
}

std::string EscapeOverlayPath(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (c == ',' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace loopscope
