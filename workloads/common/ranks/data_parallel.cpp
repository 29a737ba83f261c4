#include "workloads/common/ranks/data_parallel.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>
#include <unordered_map>

namespace loopscope::train {
namespace {

constexpr double kBytesPerMb = 1024 * 1024;

// A parameter that several modules share counts once.
std::vector<torch::Tensor> Trained(const torch::nn::Module& module) {
  std::vector<torch::Tensor> trained;
  for (const torch::Tensor& one : module.parameters()) {
    const bool known = std::ranges::any_of(trained, [&](const torch::Tensor& other) { return other.is_same(one); });
    if (one.requires_grad() && !known) trained.push_back(one);
  }
  return trained;
}

// A bucket that is averaged already is the same after it is averaged again.
class RepeatedExchange : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
 public:
  RepeatedExchange(const c10::intrusive_ptr<c10d::ProcessGroup>& group, int times)
      : CppCommHookInterface(group), times_(times) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    for (int done = 1; done < times_; ++done) Average(bucket)->wait();
    return Average(bucket)->getFuture();
  }

 private:
  c10::intrusive_ptr<c10d::Work> Average(c10d::GradBucket& bucket) {
    std::vector<torch::Tensor> gradients = {bucket.getBufferRef().div_(state_->getSize())};
    return state_->allreduce(gradients);
  }

  int times_;
};

// From torch 2.11 on its last argument is a list of buckets' sizes.
template <class... Arguments>
std::shared_ptr<c10d::Reducer> MakeReducer(const Arguments&... arguments) {
  if constexpr (std::is_constructible_v<c10d::Reducer, const Arguments&...>) {
    return std::make_shared<c10d::Reducer>(arguments...);
  } else {
    return std::make_shared<c10d::Reducer>(arguments..., std::vector<std::int64_t>{});
  }
}

}  // namespace

DataParallel::DataParallel(RankGroup& group, torch::nn::Module& module, const DataParallelOptions& options)
    : find_unused_(options.find_unused) {
  {
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& one : module.parameters()) group.Broadcast(one);
    for (const torch::Tensor& one : module.buffers()) group.Broadcast(one);
  }
  const std::vector<torch::Tensor> parameters = Trained(module);
  const auto bytes = static_cast<std::int64_t>(options.bucket_mb * kBytesPerMb);
  const std::vector<bool> sparse(parameters.size(), false);
  // One bucket at first: they are rebuilt in the order in which the first backward pass makes gradients. With a search
  // for unused parameters they are not rebuilt.
  const auto first = static_cast<std::size_t>(std::min<std::int64_t>(c10d::kDefaultFirstBucketBytes, bytes));
  const std::vector<std::size_t> limits = find_unused_
                                              ? std::vector<std::size_t>{first, static_cast<std::size_t>(bytes)}
                                              : std::vector<std::size_t>{std::numeric_limits<std::int64_t>::max()};
  auto [buckets, sizes] = c10d::compute_bucket_assignment_by_size(parameters, limits, sparse);
  // Backward begins with the last layers.
  std::ranges::reverse(buckets);
  reducer_ = MakeReducer(parameters, buckets, group.process_group(), sparse, bytes, find_unused_,
                         /*gradient_as_bucket_view=*/false, std::unordered_map<std::size_t, std::string>{},
                         static_cast<std::int64_t>(first), /*skip_all_reduce_unused_params=*/false,
                         /*use_python_reducer=*/false);
  if (options.exchanges == 1) return;
  reducer_->register_comm_hook(std::make_unique<RepeatedExchange>(group.process_group(), options.exchanges));
}

DataParallel::~DataParallel() = default;

void DataParallel::BeforeForward(bool exchange) {
  if (exchange) reducer_->prepare_for_forward();
  reducer_->rebuild_buckets();
}

void DataParallel::AfterForward(const torch::Tensor& output, bool exchange) {
  if (!exchange) return;
  reducer_->prepare_for_backward(find_unused_ ? std::vector<torch::Tensor>{output} : std::vector<torch::Tensor>{});
}

}  // namespace loopscope::train
