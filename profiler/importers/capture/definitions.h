// What a capture defines once and refers to by id: strings, stacks, modules; and what it records once: facts,
// treatments, tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/file.h"
#include "profiler/importers/capture/symbolizer.h"

namespace loopscope {

struct CaptureDefinitions {
  std::vector<std::string> strings{""};            // by id; "" where undefined
  std::vector<std::vector<std::uint64_t>> stacks;  // by id - 1, as recorded
  std::vector<ModuleMapping> modules;
  std::vector<Applied> applied;
  std::vector<MeasuredGain> gains;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> knobs;
  std::vector<wire::TensorPeakRecord> tensor_peaks;
  std::vector<std::pair<std::uint32_t, wire::TensorRecord>> tensors;  // by process

  std::string_view text(std::uint32_t id) const { return id < strings.size() ? std::string_view(strings[id]) : ""; }
};

// Definitions may be in any chunk, even after their use. Memory is bounded by the size of the file: ids that could not
// all be defined in `file_bytes` are left out.
CaptureDefinitions ReadDefinitions(const std::vector<ChunkView>& chunks, std::size_t file_bytes);

}  // namespace loopscope
