#include "profiler/importers/importers.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "profiler/importers/nsys.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 4096;

// What Importer::sniff looks at.
Result<std::string> HeadOf(const fs::path& path) {
  std::error_code error;
  std::string head;
  if (fs::is_directory(path, error)) {
    head = "dir:";
    for (fs::directory_iterator one(path, error), end; !error && one != end; one.increment(error)) {
      head += one->path().filename().string() + "\n";
    }
    if (!error) return head;
    return Error{"cannot be read: " + error.message(), path.string(), "check the folder's permissions"};
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const std::string reason = errno ? std::strerror(errno) : "no such file";
    return Error{"cannot be read: " + reason, path.string(), "check its name and its permissions"};
  }
  head.resize(kHeadBytes);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

}  // namespace

#define LOOPSCOPE_IMPORTER(stem, constant) extern const Importer constant;
#include "profiler/importers/importers.def"
#undef LOOPSCOPE_IMPORTER

std::span<const Importer* const> AllImporters() {
  static constexpr const Importer* kAll[] = {
#define LOOPSCOPE_IMPORTER(stem, constant) &constant,
#include "profiler/importers/importers.def"
#undef LOOPSCOPE_IMPORTER
      nullptr};
  return std::span(kAll).first(std::size(kAll) - 1);
}

const Importer* FindImporter(std::string_view id) {
  for (const Importer* one : AllImporters()) {
    if (one->id == id) return one;
  }
  return nullptr;
}

Result<Trace> ReadAnyTrace(const fs::path& path, std::uint32_t process) {
  const Result<std::string> head = HeadOf(path);
  if (!head) return head.error();
  if (const auto error = NsysReportFile(path); error && !head->starts_with("dir:")) return *error;
  std::string known;
  for (const Importer* one : AllImporters()) {
    if (one->sniff(*head)) return one->read({path, process});
    known += (known.empty() ? "" : ", ") + std::string(one->what);
  }
  return Error{head->starts_with("dir:") ? "holds no trace"
               : head->empty()           ? "is empty"
                                         : "is no trace that is known",
               path.string(), "pass one of: " + known};
}

}  // namespace loopscope
