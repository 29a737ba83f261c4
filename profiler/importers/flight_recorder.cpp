// Dumps of PyTorch's flight recorder (TORCH_FR_BUFFER_SIZE, TORCH_NCCL_DUMP_ON_TIMEOUT): a pickle, which is read and
// never run, or its JSON form. They hold no steps and no operators, only which collectives a rank entered.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/core/importer.h"
#include "profiler/importers/flight/dump.h"

namespace loopscope {
namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{1} << 30;

// The keys come in any order, and "entries" is long.
bool SniffFlightRecorder(std::string_view head) {
  if (MayBePickle(head)) return head.find("pg_config") != head.npos || head.find("entries") != head.npos;
  return head.starts_with('{') && (head.find("\"collective_seq_id\"") != head.npos ||
                                   (head.find("\"pg_config\"") != head.npos && head.find("\"entries\"") != head.npos));
}

Error NotADump(const Input& input, const std::string& what) {
  return {what, input.path.string(), "pass what the flight recorder wrote: TORCH_FR_DUMP_TEMP_FILE names it"};
}

Result<Trace> ReadFlightRecorder(const Input& input) {
  std::error_code error;
  if (std::filesystem::file_size(input.path, error) > kMaxFileBytes) return NotADump(input, "is larger than 1 GiB");
  std::ifstream file(input.path, std::ios::binary);
  if (!file) return NotADump(input, "cannot be read");
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  nlohmann::json dump;
  if (MayBePickle(bytes)) {
    Result<nlohmann::json> plain = PlainPickle(bytes);
    if (!plain) return NotADump(input, plain.error().what);
    dump = std::move(*plain);
  } else {
    dump = nlohmann::json::parse(bytes, nullptr, false);
  }
  if (!dump.is_object()) return NotADump(input, "is damaged: it does not hold one object");
  try {
    Trace trace = TraceOfFlightDump(dump);
    if (trace.entered.empty()) return NotADump(input, "holds no collective");
    return trace;
  } catch (const nlohmann::json::exception& damage) {
    return NotADump(input, std::string("is damaged: ") + damage.what());
  }
}

}  // namespace

extern const Importer kFlightRecorder{"flight-recorder", SniffFlightRecorder, ReadFlightRecorder,
                                      "a dump of PyTorch's flight recorder"};

}  // namespace loopscope
