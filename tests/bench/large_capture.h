// A capture as a training program leaves it, for benchmarks: 5 million ops in 10,000 steps.
#pragma once

#include <filesystem>

namespace loopscope {

// Written at the first call, gone with the process.
const std::filesystem::path& LargeCapture();

}  // namespace loopscope
