// The inputs of an op, from Kineto's lists of sizes, types and values to the text of wire::OpDetailRecord.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loopscope {

// `dims`, `types` and `concrete` are raw JSON: [[32, 3], []], ["float", "Scalar"], ["", "0.5"]. `device` is appended to
// each tensor ("cuda:0"; "" for the CPU). "" when nothing is known.
std::string InputsText(std::string_view dims, std::string_view types, std::string_view concrete,
                       std::string_view device);

}  // namespace loopscope
