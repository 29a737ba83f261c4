// tf32=on|off: whether float32 matrix products on CUDA devices may use TF32.
#include <ATen/Context.h>

#include "probes/torch/applier.h"
#include "probes/torch/has_cuda.h"

namespace loopscope {
namespace {

std::string RefusalOfTf32(std::string_view value) {
  if (value != "on" && value != "off") return "tf32 is on or off";
  return HasCuda() ? "" : "no CUDA device";
}

std::string ReadTf32() {
  const bool products = at::globalContext().allowTF32CuBLAS(), convolutions = at::globalContext().allowTF32CuDNN();
  if (products == convolutions) return products ? "on" : "off";
  return products ? "on for products, off for convolutions" : "off for products, on for convolutions";
}

void WriteTf32(std::string_view value) {
  at::globalContext().setAllowTF32CuBLAS(value == "on" || value.starts_with("on for products"));
  at::globalContext().setAllowTF32CuDNN(value == "on" || value.starts_with("off for products"));
}

}  // namespace

extern const Applier kTf32{
    "tf32", "at::globalContext().allowTF32CuBLAS, allowTF32CuDNN", RefusalOfTf32, ReadTf32, WriteTf32, nullptr,
    nullptr};

}  // namespace loopscope
