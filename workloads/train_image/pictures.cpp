#include "workloads/train_image/pictures.h"

#include <fmt/format.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "workloads/common/random.h"

namespace loopscope::train::image {
namespace {

// libjpeg reports an error by a call that must not return; its C frames are left by longjmp.
struct ErrorExit {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void OnError(j_common_ptr info) {
  auto* error = reinterpret_cast<ErrorExit*>(info->err);
  error->manager.format_message(info, error->message);
  std::longjmp(error->jump, 1);
}

// A warning means damaged data: an image that is partly grey would train silently.
void OnMessage(j_common_ptr info, int level) {
  if (level < 0) OnError(info);
}

void Install(ErrorExit& error) {
  jpeg_std_error(&error.manager);
  error.manager.error_exit = OnError;
  error.manager.emit_message = OnMessage;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File Open(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (file == nullptr) throw std::runtime_error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  return file;
}

}  // namespace

void WriteJpeg(const std::string& path, const Image& image, int quality) {
  const File file = Open(path, "wb");
  jpeg_compress_struct encoder{};
  ErrorExit error{};
  encoder.err = &error.manager;
  Install(error);
  if (setjmp(error.jump)) {
    jpeg_destroy_compress(&encoder);
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, error.message));
  }
  jpeg_create_compress(&encoder);
  jpeg_stdio_dest(&encoder, file.get());
  encoder.image_width = static_cast<unsigned>(image.width);
  encoder.image_height = static_cast<unsigned>(image.height);
  encoder.input_components = 3;
  encoder.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, quality, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    auto* row =
        const_cast<JSAMPLE*>(&image.rgb[static_cast<std::size_t>(encoder.next_scanline) * encoder.image_width * 3]);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
}

void ReadJpeg(const std::string& path, Image& image) {
  const File file = Open(path, "rb");
  jpeg_decompress_struct decoder{};
  ErrorExit error{};
  decoder.err = &error.manager;
  Install(error);
  if (setjmp(error.jump)) {
    jpeg_destroy_decompress(&decoder);
    throw std::runtime_error(fmt::format("cannot decode {}: {}", path, error.message));
  }
  jpeg_create_decompress(&decoder);
  jpeg_stdio_src(&decoder, file.get());
  jpeg_read_header(&decoder, TRUE);
  decoder.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decoder);
  image.width = static_cast<int>(decoder.output_width);
  image.height = static_cast<int>(decoder.output_height);
  image.rgb.resize(static_cast<std::size_t>(image.width) * image.height * 3);
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPLE* row = &image.rgb[static_cast<std::size_t>(decoder.output_scanline) * decoder.output_width * 3];
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
}

namespace {

using Colour = std::array<float, 3>;  // 0 to 255
constexpr float kNoise = 20;          // largest change of a channel by noise

struct Scene {
  int shape, texture;
  float centre_x, centre_y, radius, cosine, sine, period;
  Colour back, back_slope, bright, dark;
};

Colour AnyColour(Random& random, double low, double high) {
  Colour colour;
  for (float& channel : colour) channel = static_cast<float>(random.Uniform(low, high));
  return colour;
}

Scene AnyScene(int label, int size, Random& random) {
  Scene scene{};
  scene.shape = label / 2;
  scene.texture = label % 2;
  scene.radius = static_cast<float>(size * random.Uniform(0.36, 0.46));
  scene.centre_x = static_cast<float>(size * random.Uniform(0.42, 0.58));
  scene.centre_y = static_cast<float>(size * random.Uniform(0.42, 0.58));
  const double angle = random.Uniform(-0.25, 0.25);
  scene.cosine = static_cast<float>(std::cos(angle));
  scene.sine = static_cast<float>(std::sin(angle));
  scene.period = static_cast<float>(random.Uniform(0.5, 0.65));
  scene.back = AnyColour(random, 60, 150);
  scene.back_slope = AnyColour(random, -50, 50);
  scene.bright = AnyColour(random, 170, 255);
  scene.dark = AnyColour(random, 0, 70);
  return scene;
}

// Whether (u, v), in units of the radius, lies in the shape: disc, square, triangle, ring or cross.
bool Inside(int shape, float u, float v) {
  const float square = u * u + v * v;
  switch (shape) {
    case 0:
      return square < 1;
    case 1:
      return std::max(std::abs(u), std::abs(v)) < 0.85f;
    case 2:
      return v < 0.7f && v > 2 * std::abs(u) - 1;
    case 3:
      return square < 1 && square > 0.3f;
    default:
      return std::max(std::abs(u), std::abs(v)) < 1 && std::min(std::abs(u), std::abs(v)) < 0.3f;
  }
}

// Stripes or a checkerboard.
bool Bright(const Scene& scene, float u, float v) {
  const int column = static_cast<int>(std::floor(2 * u / scene.period));
  const int row = static_cast<int>(std::floor(2 * v / scene.period));
  return ((scene.texture == 0 ? column : column + row) & 1) == 0;
}

Colour ColourAt(const Scene& scene, float x, float y, float height) {
  const float u = ((x - scene.centre_x) * scene.cosine + (y - scene.centre_y) * scene.sine) / scene.radius;
  const float v = ((y - scene.centre_y) * scene.cosine - (x - scene.centre_x) * scene.sine) / scene.radius;
  if (Inside(scene.shape, u, v)) return Bright(scene, u, v) ? scene.bright : scene.dark;
  Colour colour = scene.back;
  for (std::size_t channel = 0; channel < 3; ++channel) colour[channel] += scene.back_slope[channel] * height;
  return colour;
}

}  // namespace

Image Draw(int label, int size, std::uint64_t key) {
  Random random(key);
  const Scene scene = AnyScene(label, size, random);
  Image image{size, size, std::vector<std::uint8_t>(static_cast<std::size_t>(size) * size * 3)};
  std::uint8_t* out = image.rgb.data();
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const Colour colour = ColourAt(scene, static_cast<float>(x), static_cast<float>(y),
                                     static_cast<float>(y) / static_cast<float>(size));
      std::uint64_t bits = random.Bits();
      for (const float channel : colour) {
        const float noise = kNoise * (static_cast<float>(bits & 0xffff) / 32768.f - 1);
        *out++ = std::uint8_t(std::clamp(channel + noise, 0.f, 255.f));
        bits >>= 16;
      }
    }
  }
  return image;
}

}  // namespace loopscope::train::image
