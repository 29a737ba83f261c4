// Presets: named sets of knobs. naive plants ten flaws, tuned has none, only:<rule> plants one on top of tuned.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workloads/train_image/settings.h"

namespace loopscope::train_image {

// Changes the settings as the preset says; returns a message when there is no such preset.
std::optional<std::string> ApplyPreset(Settings& settings, std::string_view name);

// The names, for --help: "naive, tuned, only:<rule> with rule one of ...".
std::string DescribePresets();

}  // namespace loopscope::train_image
