// What NCCL's plugin "inspector" writes: a JSON object a line for each collective that ended.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

#include "profiler/core/importer.h"
#include "profiler/importers/flight/dump.h"

namespace loopscope {
namespace {

constexpr std::uintmax_t kMaxInspectorBytes = std::uintmax_t{1} << 32;

bool SniffInspector(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto has = [&](std::string_view member) { return line.find(member) != line.npos; };
  if (!line.starts_with('{')) return false;
  if (has("\"header\"")) return has("_perf\"") || has("\"inspector_output_format_version\"");
  return (has("\"coll_perf\"") && has("\"coll_sn\"")) || (has("\"p2p_perf\"") && has("\"p2p_sn\""));
}

Result<Trace> ReadInspector(const Input& input) {
  std::error_code error;
  const Error unread{"cannot be read", input.path.string(), "pass one of the files in NCCL_INSPECTOR_DUMP_DIR"};
  if (std::filesystem::file_size(input.path, error) > kMaxInspectorBytes) {
    return Error{"is larger than 4 GiB", input.path.string(), "cut it: each line stands for itself"};
  }
  std::ifstream file(input.path, std::ios::binary);
  if (!file) return unread;
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  Trace trace = TraceOfInspectorLines(bytes);
  if (trace.entered.empty()) return Error{"holds no collective", input.path.string(), unread.next};
  if (trace.quality.dropped > 0) {
    trace.quality.warnings.push_back(fmt::format("{} of {} lines could not be read: left out", trace.quality.dropped,
                                                 trace.quality.dropped + trace.quality.events));
  }
  return trace;
}

}  // namespace

extern const Importer kNcclInspector{"nccl-inspector", SniffInspector, ReadInspector,
                                     "the lines of NCCL's inspector plugin"};

}  // namespace loopscope
