#include "profiler/commands/program_files.h"

#include <fmt/format.h>

#include <set>

#include "profiler/core/file_text.h"
#include "profiler/core/text.h"
#include "profiler/experiments/journal.h"
#include "profiler/launch/probe_build.h"
#include "profiler/launch/program.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostModules = 5000;                // a folder with more is not one program's project
constexpr std::uintmax_t kMostHashedBytes = 64ull << 20;  // larger files are compared by size and time

std::string BySizeAndTime(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  const auto written = fs::last_write_time(path, error);
  return fmt::format("{} {} bytes, written {}\n", path.native(), bytes, written.time_since_epoch().count());
}

std::string ByContent(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMostHashedBytes) return BySizeAndTime(path);
  return fmt::format("{} {:016x}\n", path.native(), TextHash(FileText(path)));
}

// Folders of packages, version control and environments: not the program's own.
bool Foreign(const fs::path& folder) {
  const std::string name = folder.filename();
  std::error_code error;
  return name.starts_with('.') || name == "site-packages" || name == "__pycache__" || name == "loopscope-out" ||
         fs::exists(folder / "pyvenv.cfg", error);
}

// False when there are more than kMostModules.
bool AddModules(const fs::path& folder, std::set<fs::path>& files) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_directory(error) && Foreign(at->path())) at.disable_recursion_pending();
    if (at->path().extension() == ".py" && at->is_regular_file(error)) files.insert(at->path());
    if (files.size() > kMostModules) return false;
  }
  return true;
}

}  // namespace

Result<std::string> ProgramFiles(const std::vector<std::string>& command, const fs::path& folder) {
  const Program program = InspectProgram(command.front());
  const std::string interpreter = InterpreterOf(command);
  std::set<fs::path> named, modules;
  std::string text = ByContent(program.path);
  std::error_code error;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const fs::path path = fs::weakly_canonical(folder / command[i], error);
    if (fs::is_regular_file(path, error)) named.insert(path);
  }
  for (const std::string& library : LinkedLibraries(program)) text += BySizeAndTime(library);
  if (const auto torch = TorchOf(interpreter)) text += fmt::format("torch {}\n", torch->version);
  if (!interpreter.empty()) {
    bool all = AddModules(folder, modules);
    for (const fs::path& path : named) {
      if (path.extension() == ".py") all = all && AddModules(path.parent_path(), modules);
    }
    if (!all) {
      return Error{fmt::format("more than {} Python files, too many to check for changes", kMostModules), folder,
                   "work in the folder of one project"};
    }
  }
  named.merge(modules);
  for (const fs::path& path : named) text += ByContent(path);
  return text;
}

}  // namespace loopscope
