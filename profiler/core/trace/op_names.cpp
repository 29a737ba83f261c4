#include "profiler/core/trace/op_names.h"

#include <algorithm>
#include <array>

namespace loopscope::ops {
namespace {

constexpr std::string_view kBackwardNode = "autograd::engine::evaluate_function: ";

constexpr std::string_view kAten = "aten::";

template <std::size_t N>
bool IsAten(std::string_view name, const std::array<std::string_view, N>& names) {
  if (!name.starts_with(kAten)) return false;
  name.remove_prefix(kAten.size());
  return std::ranges::find(names, name) != names.end();
}

constexpr auto kConvolutions = std::to_array<std::string_view>({"conv1d",
                                                                "conv2d",
                                                                "conv3d",
                                                                "convolution",
                                                                "_convolution",
                                                                "conv_transpose1d",
                                                                "conv_transpose2d",
                                                                "conv_transpose3d",
                                                                "convolution_overrideable",
                                                                "convolution_backward",
                                                                "mkldnn_convolution",
                                                                "mkldnn_convolution_backward",
                                                                "cudnn_convolution",
                                                                "cudnn_convolution_relu",
                                                                "cudnn_convolution_transpose",
                                                                "miopen_convolution",
                                                                "thnn_conv2d",
                                                                "_slow_conv2d_forward",
                                                                "_slow_conv2d_backward",
                                                                "slow_conv3d",
                                                                "slow_conv3d_forward",
                                                                "slow_conv_dilated2d",
                                                                "slow_conv_dilated3d",
                                                                "slow_conv_transpose2d",
                                                                "slow_conv_transpose3d",
                                                                "_conv_depthwise2d",
                                                                "conv_depthwise3d",
                                                                "conv_tbc"});

constexpr auto kMatmuls = std::to_array<std::string_view>({"mm",
                                                           "addmm",
                                                           "addmm_",
                                                           "bmm",
                                                           "baddbmm",
                                                           "baddbmm_",
                                                           "addbmm",
                                                           "mv",
                                                           "addmv",
                                                           "matmul",
                                                           "linear",
                                                           "bilinear",
                                                           "einsum",
                                                           "tensordot",
                                                           "chain_matmul",
                                                           "linalg_multi_dot",
                                                           "_addmm_activation",
                                                           "mkldnn_linear",
                                                           "_scaled_mm",
                                                           "_grouped_mm",
                                                           "scaled_dot_product_attention",
                                                           "_scaled_dot_product_attention_math",
                                                           "_scaled_dot_product_flash_attention",
                                                           "_scaled_dot_product_flash_attention_for_cpu",
                                                           "_scaled_dot_product_efficient_attention",
                                                           "_scaled_dot_product_cudnn_attention",
                                                           "_scaled_dot_product_flash_attention_backward",
                                                           "_scaled_dot_product_flash_attention_for_cpu_backward",
                                                           "_scaled_dot_product_efficient_attention_backward",
                                                           "_scaled_dot_product_cudnn_attention_backward",
                                                           "mkldnn_rnn_layer",
                                                           "mkldnn_rnn_layer_backward",
                                                           "_cudnn_rnn",
                                                           "_cudnn_rnn_backward"});

constexpr auto kBatchNorms = std::to_array<std::string_view>({"batch_norm", "batch_norm_elemt"});

constexpr auto kDropouts =
    std::to_array<std::string_view>({"dropout", "dropout_", "feature_dropout", "feature_dropout_", "alpha_dropout",
                                     "alpha_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_"});

constexpr auto kHostReads = std::to_array<std::string_view>({"item", "_local_scalar_dense", "is_nonzero"});

constexpr auto kZeroFills = std::to_array<std::string_view>({"zero_", "_foreach_zero_"});

constexpr auto kCopies = std::to_array<std::string_view>({"copy_", "_to_copy", "clone"});

constexpr auto kRandomsAndFills = std::to_array<std::string_view>(
    {"rand",       "randn",    "randint", "randperm",  "rand_like",  "randn_like", "randint_like",
     "bernoulli",  "normal",   "normal_", "uniform_",  "bernoulli_", "random_",    "zeros",
     "zeros_like", "ones",     "full",    "ones_like", "fill_",      "full_like",  "new_zeros",
     "new_ones",   "new_full", "arange",  "eye",       "linspace",   "zero_",      "multinomial"});

// From PyTorch's torch.use_deterministic_algorithms: the ops that it gives another implementation.
constexpr auto kScatters = std::to_array<std::string_view>({"scatter",
                                                            "scatter_",
                                                            "scatter_add",
                                                            "scatter_add_",
                                                            "scatter_reduce",
                                                            "scatter_reduce_",
                                                            "gather_backward",
                                                            "index_add",
                                                            "index_add_",
                                                            "index_copy",
                                                            "index_copy_",
                                                            "index_put",
                                                            "index_put_",
                                                            "_index_put_impl_",
                                                            "put_",
                                                            "index_reduce",
                                                            "embedding_dense_backward",
                                                            "_embedding_bag_dense_backward",
                                                            "index_backward",
                                                            "repeat_interleave",
                                                            "cumsum",
                                                            "replication_pad1d_backward",
                                                            "replication_pad2d_backward",
                                                            "replication_pad3d_backward",
                                                            "reflection_pad1d_backward",
                                                            "upsample_bilinear2d_backward",
                                                            "index_select_backward"});

constexpr auto kUninitialized = std::to_array<std::string_view>(
    {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_"});

constexpr auto kAccumulates = std::to_array<std::string_view>({"add", "add_"});

}  // namespace

bool IsConvolution(std::string_view name) {
  return IsAten(name, kConvolutions);
}
bool IsMatmul(std::string_view name) {
  return IsAten(name, kMatmuls);
}
bool IsProduct(std::string_view name) {
  return IsConvolution(name) || IsMatmul(name);
}

bool IsBatchNorm(std::string_view name) {
  return IsAten(name, kBatchNorms);
}
bool IsRecurrent(std::string_view name) {
  static constexpr auto kRecurrent = std::to_array<std::string_view>(
      {"lstm", "lstm_cell", "gru", "gru_cell", "rnn_tanh", "rnn_tanh_cell", "rnn_relu", "rnn_relu_cell"});
  return IsAten(name, kRecurrent);
}
bool IsView(std::string_view name) {
  static constexpr auto kViews = std::to_array<std::string_view>(
      {"alias",          "as_strided",   "chunk",     "detach", "expand",    "flatten",   "narrow",
       "permute",        "reshape",      "select",    "slice",  "split",     "squeeze",   "t",
       "_reshape_alias", "_unsafe_view", "transpose", "unbind", "unflatten", "unsqueeze", "view"});
  return IsAten(name, kViews);
}

bool IsDropout(std::string_view name) {
  return IsAten(name, kDropouts);
}

bool IsHostRead(std::string_view name) {
  return IsAten(name, kHostReads);
}
bool IsZeroFill(std::string_view name) {
  return IsAten(name, kZeroFills);
}
bool IsCopy(std::string_view name) {
  return IsAten(name, kCopies);
}
bool IsRandomOrFill(std::string_view name) {
  return IsAten(name, kRandomsAndFills);
}
bool IsAccumulate(std::string_view name) {
  return IsAten(name, kAccumulates);
}
bool IsScatter(std::string_view name) {
  return IsAten(name, kScatters);
}
bool IsUninitialized(std::string_view name) {
  return IsAten(name, kUninitialized);
}
bool IsCompiledRegion(std::string_view name) {
  return name.starts_with("Torch-Compiled Region");
}

bool IsBackwardNode(std::string_view name) {
  return name.starts_with(kBackwardNode);
}
std::string_view Shown(std::string_view name) {
  return IsBackwardNode(name) ? name.substr(kBackwardNode.size()) : name;
}
bool IsAccumulateNode(std::string_view name) {
  return IsBackwardNode(name) && name.ends_with("AccumulateGrad");
}

}  // namespace loopscope::ops
