// Pictures: JPEG files through libjpeg-turbo, and those of the data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loopscope::train::image {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // height x width x 3
};

// Writes the image; throws std::runtime_error that names the file.
void WriteJpeg(const std::string& path, const Image& image, int quality);

// Decodes the file into `image`, whose buffer is reused; throws std::runtime_error that names the file.
void ReadJpeg(const std::string& path, Image& image);

// The pictures of the data set: ten classes, five shapes filled with one of two textures, placed at random.
inline constexpr int kClasses = 10;

// A square picture of class `label` (0 to 9) with `size` pixels an edge. Position, angle, colours, period and noise
// come from `key` alone.
Image Draw(int label, int size, std::uint64_t key);

}  // namespace loopscope::train::image
