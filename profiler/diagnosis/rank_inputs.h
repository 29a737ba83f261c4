// Which traces of an input may be ranks of one run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/importer.h"
#include "profiler/core/result.h"

namespace loopscope {

// Inputs that may each be one rank, by name: the captures or traces in a folder, else its sub-folders with captures;
// the processes of one file that record ranks. Fewer than two where the input is one rank.
std::vector<Input> RankInputs(const std::filesystem::path& folder);
std::vector<Input> RankInputsOf(const Trace& trace, const std::filesystem::path& file);

std::string FolderOf(const std::filesystem::path& input);      // itself, or where the file lies
Error InFile(const std::filesystem::path& file, Error error);  // what was read from it lies at `error.where`
Error MissingInput(const std::filesystem::path& input);

// Where the trace lies that a folder with at most one rank (`ranks`) stands for.
std::filesystem::path OnlyTrace(const std::filesystem::path& input, const std::vector<Input>& ranks);

// The traces in an input as `report` takes it, each of one rank. Error (exit 2): unreadable.
Result<std::vector<Input>> TraceInputs(const std::filesystem::path& input);

// "run/rank0.json", "trace.sqlite, pid 112".
std::string InputText(const Input& input);

}  // namespace loopscope
