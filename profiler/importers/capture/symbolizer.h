// Maps return addresses to places in the user's source after the process has ended, using the debug information of the
// files that were mapped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// An executable mapping of a file, as wire::ModuleRecord has it.
struct ModuleMapping {
  std::string path;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t file_offset = 0;
};

struct Symbolized {
  // One entry per address: the user's frames there, inlined ones first; none when it is a library's own.
  std::vector<std::vector<Where>> frames;
  std::vector<std::string> warnings;       // files that are gone
  std::vector<std::string> without_lines;  // the user's files that have no line for any of the addresses in them
};

// `return_addresses` are looked up at address - 1, inside the call. Where a file has no line information, a frame is
// the function and the offset in it, with the file's own path and line 0.
Symbolized Symbolize(std::span<const ModuleMapping> modules, std::span<const std::uint64_t> return_addresses);

// Whether code of the file at `path` can be the user's: not torch, the C and C++ libraries, CUDA, the system's or ours.
bool IsUserModule(std::string_view path);

// Whether a source file can be the user's: not a header of torch, of the compiler or of the system.
bool IsUserSource(std::string_view path);

// "_ZN2at5emptyEv" → "at::empty"; a name that is not mangled stays.
std::string ReadableName(const char* mangled);

// "torch::nn::Module::to(int) const" → "torch::nn::Module::to".
std::string WithoutParameters(std::string_view demangled);

// "path:line:function" → a frame (wire::kFrameIsText).
Where WhereOfText(std::string_view text);

}  // namespace loopscope
