#include "workloads/train_image/augment.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace loopscope::train::image {
namespace {

// The two source pixels that a destination pixel lies between, as offsets, and the share of the second.
struct Tap {
  int first, second;
  float share;
};

std::vector<Tap> Taps(float start, float length, int limit, int size, int stride, bool flipped) {
  std::vector<Tap> taps(static_cast<std::size_t>(size), Tap{});
  for (int i = 0; i < size; ++i) {
    const float position = start + (static_cast<float>(i) + 0.5f) * length / static_cast<float>(size) - 0.5f;
    const float clamped = std::clamp(position, 0.f, static_cast<float>(limit - 1));
    const int first = static_cast<int>(clamped);
    const int second = std::min(first + 1, limit - 1);
    taps[static_cast<std::size_t>(flipped ? size - 1 - i : i)] = {first * stride, second * stride,
                                                                  clamped - static_cast<float>(first)};
  }
  return taps;
}

void Put(float value, float& out) {
  out = (value - kMean) / kDeviation;
}

void Put(float value, std::uint8_t& out) {
  out = static_cast<std::uint8_t>(value + 0.5f);
}

template <class Number>
void ResampleTo(const Image& image, const Crop& crop, int size, bool channels_last, Number* out) {
  const auto columns = Taps(crop.left, crop.width, image.width, size, 3, crop.flipped);
  const auto rows = Taps(crop.top, crop.height, image.height, size, image.width * 3, false);
  const std::size_t pixel_stride = channels_last ? 3 : 1;
  const std::size_t channel_stride =
      channels_last ? 1 : static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  for (const Tap& row : rows) {
    const std::uint8_t* above = &image.rgb[static_cast<std::size_t>(row.first)];
    const std::uint8_t* below = &image.rgb[static_cast<std::size_t>(row.second)];
    for (const Tap& column : columns) {
      for (int channel = 0; channel < 3; ++channel) {
        const float a = above[column.first + channel], b = above[column.second + channel];
        const float c = below[column.first + channel], d = below[column.second + channel];
        const float upper = a + (b - a) * column.share, lower = c + (d - c) * column.share;
        Put(upper + (lower - upper) * row.share, out[static_cast<std::size_t>(channel) * channel_stride]);
      }
      out += pixel_stride;
    }
  }
}

}  // namespace

Crop RandomCrop(const Image& image, Random& random) {
  const double area = static_cast<double>(image.width) * image.height * random.Uniform(0.5, 1.0);
  const double aspect = std::exp(random.Uniform(std::log(3.0 / 4), std::log(4.0 / 3)));
  const float width = static_cast<float>(std::min<double>(image.width, std::sqrt(area * aspect)));
  const float height = static_cast<float>(std::min<double>(image.height, std::sqrt(area / aspect)));
  const float left = static_cast<float>(random.Uniform(0, image.width - width));
  const float top = static_cast<float>(random.Uniform(0, image.height - height));
  return {left, top, width, height, random.Uniform() < 0.5};
}

Crop MiddleCrop(const Image& image) {
  const float edge = static_cast<float>(std::min(image.width, image.height)) * 8 / 9;
  return {(static_cast<float>(image.width) - edge) / 2, (static_cast<float>(image.height) - edge) / 2, edge, edge,
          false};
}

void Resample(const Image& image, const Crop& crop, int size, bool channels_last, float* out) {
  ResampleTo(image, crop, size, channels_last, out);
}

void Resample(const Image& image, const Crop& crop, int size, bool channels_last, std::uint8_t* out) {
  ResampleTo(image, crop, size, channels_last, out);
}

}  // namespace loopscope::train::image
