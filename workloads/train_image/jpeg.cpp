#include "workloads/train_image/jpeg.h"

#include <fmt/format.h>
#include <jpeglib.h>

#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

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

}  // namespace loopscope::train::image
