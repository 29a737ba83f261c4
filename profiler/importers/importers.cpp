#include "profiler/importers/importers.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "profiler/core/file_text.h"
#include "profiler/importers/nsys.h"

#define LOOPSCOPE_SEAM_KIND Importer
#define LOOPSCOPE_SEAM_DEF "profiler/importers/importers.def"
#define LOOPSCOPE_IMPORTER LOOPSCOPE_SEAM_ENTRY
#include "profiler/core/seam_list.inc"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

Error Unreadable(const fs::path& path, const std::string& reason) {
  return {"cannot be read: " + reason, path.string(), "check its name and its permissions"};
}

Error NoTrace(const fs::path& path, std::string_view what) {
  std::string known;
  for (const Importer* one : AllImporters()) known += (known.empty() ? "" : ", ") + std::string(one->what);
  return {std::string(what), path.string(), "pass one of: " + known};
}

Result<const Importer*> ImporterOfFolder(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator one(folder, error), end; !error && one != end; one.increment(error)) {
    names.push_back(one->path().filename());
  }
  if (error) return Error{"cannot be read: " + error.message(), folder.string(), "check the folder's permissions"};
  for (const Importer* one : AllImporters()) {
    if (one->reads_folder != nullptr && one->reads_folder(names)) return one;
  }
  return NoTrace(folder, "holds no trace");
}

Result<const Importer*> ImporterOfFile(const fs::path& file) {
  errno = 0;
  const std::optional<std::string> head = FileHead(file, kHeadBytes);
  std::error_code error;
  if (!head && fs::is_other(file, error)) return Unreadable(file, "it is a pipe or a device, not a file");
  if (!head) return Unreadable(file, errno ? std::strerror(errno) : "no such file");
  if (const auto refused = NsysReportFile(file)) return *refused;
  for (const Importer* one : AllImporters()) {
    if (one->sniff(*head)) return one;
  }
  return NoTrace(file, head->empty() ? "is empty" : "is not a trace format Loopscope knows");
}

}  // namespace

std::span<const Importer* const> AllImporters() {
  return kAll;
}

Result<Trace> ReadAnyTrace(const fs::path& path, std::uint32_t process) {
  std::error_code error;
  const Result<const Importer*> importer =
      fs::is_directory(path, error) ? ImporterOfFolder(path) : ImporterOfFile(path);
  if (!importer) return importer.error();
  return (*importer)->read({path, process});
}

}  // namespace loopscope
