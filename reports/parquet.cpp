// A report and its events as Parquet files, one for each table, for DuckDB, Spark and their like. A module that is
// loaded here writes them, so that Loopscope needs no Arrow.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "profiler/core/format.h"
#include "reports/parquet/module.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// Loads it from beside the executable or an installation's library folder: others may set the search path.
Result<void*> LoadModule() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* beside : {".", "..", "../lib/loopscope"}) {
    const fs::path module = folder / beside / kParquetModule;
    if (!fs::exists(module, error)) continue;
    if (void* const loaded = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL)) return loaded;
    const char* const reason = dlerror();
    return Error{fmt::format("cannot be loaded: {}", reason ? reason : "unknown"), module,
                 "build it again: its Arrow may have moved"};
  }
  return Error{"Parquet was not built: it needs the Arrow of pyarrow", folder, "run `make parquet`"};
}

Result<void> CheckModule() {
  const Result<void*> module = LoadModule();
  if (!module) return module.error();
  return {};
}

Result<void> WriteTables(const Report& report, Output& output) {
  const Result<void*> module = LoadModule();
  if (!module) return module.error();
  const auto write = reinterpret_cast<WriteParquet>(dlsym(*module, kParquetEntry));
  if (!write) return Error{"is not a module of this Loopscope", kParquetModule, "build it again: `make build`"};
  for (const Table& table : TablesOf(report)) {
    OutputFile& file = output.files.emplace_back(table.name + ".parquet", "");
    if (const std::string problem = write(table, file.bytes); !problem.empty()) {
      return Error{"Arrow cannot write it: " + problem, file.name,
                   "please report this with the command that you typed"};
    }
  }
  return {};
}

}  // namespace

extern const Format kParquet = {.id = "parquet",
                                .purpose = "steps, operators, kernels, findings, lines as tables",
                                .write = WriteTables,
                                .folder = true,
                                .check = CheckModule};

}  // namespace loopscope
