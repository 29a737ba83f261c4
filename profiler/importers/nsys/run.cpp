#include "profiler/importers/nsys/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>

#include "profiler/core/text.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxArguments = 1000, kMaxDiagnostics = 5;

// Variables that change how training runs; no others are copied.
constexpr auto kVariables = std::to_array<std::string_view>(
    {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES", "TORCH_DISTRIBUTED_DEBUG",
     "NCCL_DEBUG", "PYTORCH_CUDA_ALLOC_CONF", "TORCH_CUDNN_V8_API_DISABLED", "NVIDIA_TF32_OVERRIDE", "RANK",
     "WORLD_SIZE"});

int Number(std::string_view text, int otherwise) {
  int value = otherwise;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : otherwise;
}

// `NAME="value"`
void AddVariable(std::string_view text, RunInfo& run) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return;
  const std::string_view name = text.substr(0, equals);
  std::string_view value = text.substr(equals + 1);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
  if (std::ranges::find(kVariables, name) != kVariables.end()) run.environment[std::string(name)] = value;
}

void ReadCommand(NsysDatabase& database, RunInfo& run) {
  std::string program;
  std::map<int, std::string> arguments;
  constexpr auto kColumns = std::to_array<std::string_view>({"name", "value"});
  database.Read("META_DATA_CAPTURE", kColumns, 2, [&](const NsysRow& row) {
    constexpr std::string_view kProcess = "PROCESS_0:", kArgument = "ARGUMENT_";
    std::string_view name = row.text(0);
    if (!name.starts_with(kProcess)) return;
    name.remove_prefix(kProcess.size());
    if (name == "COMMAND") program = row.text(1);
    if (name == "WORKING_DIR") run.working_directory = row.text(1);
    if (name == "ENVIRONMENT_VARIABLE") AddVariable(row.text(1), run);
    if (!name.starts_with(kArgument) || arguments.size() >= kMaxArguments) return;
    arguments[Number(name.substr(kArgument.size()), 0)] = row.text(1);
  });
  if (program.empty()) return;
  run.command.push_back(program);
  for (auto& [place, argument] : arguments) run.command.push_back(std::move(argument));
}

void ReadMachine(NsysDatabase& database, RunInfo& run) {
  constexpr auto kColumns = std::to_array<std::string_view>({"name", "value"});
  database.Read("TARGET_INFO_SYSTEM_ENV", kColumns, 2, [&](const NsysRow& row) {
    const std::string_view name = row.text(0), value = row.text(1);
    if (name == "CpuDescription" && value != "unknown") run.cpu = value;
    if (name == "CpuCores") run.cores = std::max(Number(value, 0), 0);
    if (name == "Hostname") run.node = value;
    if (name == "NvDriverVersion" && !value.empty()) run.versions["driver"] = value;
  });
  database.Read("META_DATA_EXPORT", kColumns, 2, [&](const NsysRow& row) {
    if (row.text(0) == "EXPORT_PRODUCT_VERSION") run.versions["nsys"] = row.text(1);
  });
}

void ReadStart(NsysDatabase& database, RunInfo& run) {
  constexpr auto kColumns = std::to_array<std::string_view>({"utcTime"});
  database.Read("TARGET_INFO_SESSION_START_TIME", kColumns, 1, [&](const NsysRow& row) {
    run.started = row.text(0);
    std::ranges::replace(run.started, ' ', 'T');
    if (!run.started.empty() && run.started.back() != 'Z') run.started += 'Z';
  });
}

std::map<std::int64_t, std::string> GpuNames(NsysDatabase& database) {
  std::map<std::int64_t, std::string> names;
  constexpr auto kColumns = std::to_array<std::string_view>({"id", "name"});
  database.Read("TARGET_INFO_GPU", kColumns, 2, [&](const NsysRow& row) {
    if (!row.text(1).empty() && names.size() < 1024) names[row.whole(0)] = row.text(1);
  });
  return names;
}

void WarnOfDiagnostics(NsysDatabase& database, Quality& quality) {
  constexpr std::int64_t kError = 3;
  std::size_t errors = 0;
  constexpr auto kColumns = std::to_array<std::string_view>({"severity", "text"});
  database.Read("DIAGNOSTIC_EVENT", kColumns, 2, [&](const NsysRow& row) {
    const std::string_view text = row.text(1);
    const bool lost = text.find("might have been lost") != text.npos || text.find("were lost") != text.npos ||
                      text.find("Not all") == 0;
    if (row.whole(0) != kError && !lost) return;
    if (++errors <= kMaxDiagnostics) quality.warnings.push_back("Nsight Systems said: " + std::string(text));
  });
  if (errors > kMaxDiagnostics) {
    quality.warnings.push_back("and " + std::to_string(errors - kMaxDiagnostics) + " more messages of that kind");
  }
}

void WarnOfGaps(NsysDatabase& database, bool has_steps, Quality& quality) {
  const auto missing = [&](std::initializer_list<const char*> tables) {
    return std::ranges::all_of(tables, [&](const char* table) { return database.Rows(table) == 0; });
  };
  if (missing({"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"})) {
    quality.warnings.push_back("no kernels were recorded: what the GPU did is unknown (nsys profile --trace=cuda,…)");
  } else if (missing({"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"})) {
    quality.warnings.push_back("no CUDA calls were recorded: what launched a kernel is unknown");
  }
  if (missing({"OSRT_API"})) {
    quality.warnings.push_back(
        "no waits of threads were recorded: waiting for a loader shows only where a range covers "
        "it (nsys profile --trace=osrt,…)");
  }
  if (database.Rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE") > 0) {
    quality.warnings.push_back(
        "CUDA graphs were recorded as a whole: the kernels inside them cannot be seen "
        "(nsys profile --cuda-graph-trace=node)");
  }
  if (missing({"NVTX_EVENTS"})) {
    quality.warnings.push_back(
        "no NVTX ranges were recorded: put each step into one named \"step\" and record with "
        "nsys profile --trace=nvtx,…");
  } else if (!has_steps) {
    quality.warnings.push_back(
        "no NVTX range is a training step: put each step into one named \"step\", or number "
        "them (\"iteration 7\")");
  }
}

}  // namespace

RunInfo NsysRunInfo(NsysDatabase& database) {
  RunInfo run;
  run.source = "nsys";
  ReadCommand(database, run);
  ReadMachine(database, run);
  ReadStart(database, run);
  for (auto& [id, name] : GpuNames(database)) run.gpus.push_back(std::move(name));
  return run;
}

void NameNsysDevices(NsysDatabase& database, std::uint32_t pid, std::vector<Device>& devices) {
  const std::map<std::int64_t, std::string> names = GpuNames(database);
  constexpr auto kColumns = std::to_array<std::string_view>({"gpuId", "cudaId", "pid"});
  database.Read("TARGET_INFO_CUDA_DEVICE", kColumns, 2, [&](const NsysRow& row) {
    const auto name = names.find(row.whole(0, -1));
    if (name == names.end() || row.whole(2, pid) != pid) return;
    for (Device& device : devices) {
      if (device.ordinal == row.whole(1, -1)) device.name = name->second;
    }
  });
}

void JudgeNsysQuality(NsysDatabase& database, const NsysTables& tables, bool has_steps, Trace& trace) {
  Quality& quality = trace.quality;
  for (const Thread& thread : trace.threads) quality.events += thread.events.size();
  for (const Device& device : trace.devices) quality.events += device.events.size();
  quality.torn_bytes = static_cast<std::uint64_t>(database.missing_bytes());
  quality.clean_end = quality.torn_bytes == 0 && database.damage().empty();
  for (const std::string& damage : database.damage()) quality.warnings.push_back("the export is damaged: " + damage);
  if (quality.torn_bytes > 0) {
    quality.warnings.push_back("the export is cut off: " + std::to_string(quality.torn_bytes) +
                               " bytes are missing at its end");
  }
  if (tables.repaired > 0) {
    quality.warnings.push_back(std::to_string(tables.repaired) + " events had impossible times");
  }
  if (tables.unfinished > 0) {
    quality.warnings.push_back(std::to_string(tables.unfinished) + " NVTX ranges were not closed and are left out");
  }
  if (tables.without_device > 0) {
    quality.warnings.push_back(
        fmt::format("left out {} of CUDA graphs: which of several GPUs ran them was not recorded",
                    Counted(static_cast<double>(tables.without_device), "launch", "launches")));
  }
  WarnOfDiagnostics(database, quality);
  WarnOfGaps(database, has_steps, quality);
}

}  // namespace loopscope
