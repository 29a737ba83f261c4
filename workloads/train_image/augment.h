// From a decoded picture to the network's input: crop, resize, flip, uint8 to float, normalisation, in one pass.
#pragma once

#include "workloads/common/random.h"
#include "workloads/train_image/pictures.h"

namespace loopscope::train::image {

struct Crop {
  float left, top, width, height;  // pixels of the source
  bool flipped;                    // left to right
};

// A random crop of 50 to 100 % of the area with an aspect of 3:4 to 4:3, flipped in half of the cases.
Crop RandomCrop(const Image& image, Random& random);

// The middle of the picture, 8/9 of its shorter edge.
Crop MiddleCrop(const Image& image);

// Resizes the crop to size x size (bilinear) and normalises to about zero mean and unit variance. Writes 3 x size x
// size floats to `out`: channels interleaved (height, width, channel) when `channels_last`, else planes.
void Resample(const Image& image, const Crop& crop, int size, bool channels_last, float* out);

// The same, rounded to 0 to 255 and not normalised.
void Resample(const Image& image, const Crop& crop, int size, bool channels_last, std::uint8_t* out);

// Normalisation constants: the data set's mean and standard deviation, on a scale of 0 to 255.
inline constexpr float kMean = 112, kDeviation = 58;

}  // namespace loopscope::train::image
