// What reading a trace costs at least: `kineto_pass simdjson FILE` goes over every field of it with simdjson's On
// Demand parser, `kineto_pass gunzip FILE` only expands it with ISA-L. Prints what it saw, so that none of it is
// optimised away.
#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <simdjson.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

namespace {

namespace ondemand = simdjson::ondemand;

struct Seen {
  std::uint64_t values = 0, bytes = 0;
  double sum = 0;
};

void Look(ondemand::value value, Seen& seen) {
  ++seen.values;
  switch (value.type()) {
    case ondemand::json_type::object:
      for (ondemand::field field : value.get_object()) {
        seen.bytes += std::string_view(field.unescaped_key()).size();
        Look(field.value(), seen);
      }
      break;
    case ondemand::json_type::array:
      for (ondemand::value element : value.get_array()) Look(element, seen);
      break;
    case ondemand::json_type::string:
      seen.bytes += std::string_view(value.get_string()).size();
      break;
    case ondemand::json_type::number:
      seen.sum += value.get_double();
      break;
    case ondemand::json_type::boolean:
      seen.sum += value.get_bool();
      break;
    case ondemand::json_type::null:
      seen.bytes += value.is_null();
      break;
  }
}

int PassOver(const char* path) {
  const simdjson::padded_string text = simdjson::padded_string::load(path);
  ondemand::parser parser;
  ondemand::document document = parser.iterate(text);
  Seen seen;
  Look(document.get_value(), seen);
  fmt::print("{} values, {} bytes of text, sum {}\n", seen.values, seen.bytes, seen.sum);
  return 0;
}

int Expand(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("cannot be opened");
  std::vector<std::uint8_t> from(256 * 1024), to(1 << 20);
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_GZIP;
  std::uint64_t bytes = 0;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    if (state->avail_in == 0) {
      const ssize_t size = read(file, from.data(), from.size());
      if (size <= 0) throw std::runtime_error("ends early");
      state->next_in = from.data();
      state->avail_in = static_cast<std::uint32_t>(size);
    }
    state->next_out = to.data();
    state->avail_out = static_cast<std::uint32_t>(to.size());
    if (isal_inflate(state.get()) != ISAL_DECOMP_OK) throw std::runtime_error("is damaged");
    bytes += to.size() - state->avail_out;
  }
  close(file);
  fmt::print("{} bytes\n", bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  try {
    if (what == "simdjson") return PassOver(argv[2]);
    if (what == "gunzip") return Expand(argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kineto_pass: {}: {}\n", argv[2], error.what());
    return 1;
  }
  fmt::print(stderr, "usage: kineto_pass simdjson|gunzip FILE\n");
  return 2;
}
