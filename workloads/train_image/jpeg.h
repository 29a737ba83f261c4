// JPEG files through libjpeg-turbo.
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

}  // namespace loopscope::train::image
