// Finds the function of a library that contains an address, by the library's symbol table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "profiler/importers/capture/symbolizer.h"

namespace loopscope {

class LibraryFunctions {
 public:
  // `modules` must outlive it.
  explicit LibraryFunctions(std::span<const ModuleMapping> modules);
  ~LibraryFunctions();
  LibraryFunctions(const LibraryFunctions&) = delete;
  LibraryFunctions& operator=(const LibraryFunctions&) = delete;

  // "at::native::copy_": without parameters. Empty for code of the user's own, and where no file or symbol is found.
  std::string At(std::uint64_t return_address);

 private:
  class Symbols;
  std::map<std::uint64_t, const ModuleMapping*> by_begin_;
  std::map<std::string, std::unique_ptr<Symbols>> open_;
};

}  // namespace loopscope
