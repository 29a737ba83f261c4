// What to record about an op beyond its time, by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace loopscope {

enum NameTrait : std::uint8_t { kHashShapes = 1, kHostRead = 2, kMayBeAsync = 4 };

// The NameTraits of an op. Shapes are hashed for ops that multiply matrices: convolutions, products, attention,
// recurrent layers, and their backward ops.
std::uint8_t TraitsOf(std::string_view name);

}  // namespace loopscope
