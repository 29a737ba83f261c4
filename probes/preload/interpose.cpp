// LibTorch functions that this library interposes: by mangled name, without a torch header. Arguments that are classes
// with a destructor pass by address, so that their layout stays unknown here.
#include <cstdint>
#include <vector>

#include "probes/capture/writer.h"
#include "probes/export.h"
#include "probes/preload/loop.h"
#include "probes/preload/program_facts.h"
#include "probes/preload/real_function.h"

namespace loopscope {

// at::Tensor, std::optional<std::vector<size_t>> and std::optional<BatchSize> as they lie in memory. They have a
// destructor so that they are returned like those; it does nothing, since the caller owns the content.
struct TensorResult {
  void* implementation;
  ~TensorResult() {}
};
struct IndicesResult {
  const std::size_t *begin, *end, *capacity;
  bool engaged;
  ~IndicesResult() {}
};
struct SizeResult {
  const void* vtable;
  std::size_t size;
  bool engaged;
  ~SizeResult() {}
};
static_assert(sizeof(IndicesResult) == sizeof(std::vector<std::size_t>) + 8);

namespace {

using capture::NowNs;

// Closes what a forwarder opened, also when the real function throws.
template <class Close>
class Closing {
 public:
  explicit Closing(Close close) : close_(close) {}
  ~Closing() { close_(threw_); }
  void Returned() { threw_ = false; }

 private:
  Close close_;
  bool threw_ = true;
};

using Step = TensorResult(void* self, void* closure);

TensorResult ForwardStep(Step* real, const char* name, void* self, void* closure) {
  if (!loop::Active()) return real(self, closure);
  const std::uint64_t begin_ns = NowNs();
  loop::OptimizerBegins();
  Closing closing([&](bool threw) { loop::OptimizerEnds(self, name, loop::ParametersOf(self), begin_ns, threw); });
  TensorResult loss = real(self, closure);
  closing.Returned();
  return loss;
}

void Report(const void* sampler, const char* name, std::uint64_t begin_ns, const IndicesResult& batch) noexcept {
  if (!batch.engaged) return loop::SamplerRanOut(sampler, begin_ns);
  const auto samples = static_cast<std::size_t>(batch.end - batch.begin);
  loop::DescribeSampler(name, batch.begin, samples);
  loop::SamplerGave(sampler, begin_ns, batch.begin, samples);
}
void Report(const void* sampler, const char*, std::uint64_t begin_ns, const SizeResult& batch) noexcept {
  if (!batch.engaged) return loop::SamplerRanOut(sampler, begin_ns);
  loop::SamplerGave(sampler, begin_ns, nullptr, batch.size);
}

template <class Result>
using Next = Result(void* self, std::size_t batch_size);

template <class Result>
Result ForwardNext(Next<Result>* real, const char* name, void* self, std::size_t batch_size) {
  const std::uint64_t begin_ns = loop::Active() ? NowNs() : 0;
  Result batch = real(self, batch_size);
  if (begin_ns != 0) Report(self, name, begin_ns, batch);
  return batch;
}

// std::optional<size_t> travels in two registers.
using Reset = void(void* self, std::uint64_t size, std::uint64_t has_size);

}  // namespace
}  // namespace loopscope

#define LOOPSCOPE_STEP(Class, mangled)                                                        \
  LOOPSCOPE_EXPORT loopscope::TensorResult Class##Step(void*, void*) asm(mangled);            \
  loopscope::TensorResult Class##Step(void* self, void* closure) {                            \
    static auto* real = reinterpret_cast<loopscope::Step*>(loopscope::RealFunction(mangled)); \
    return loopscope::ForwardStep(real, #Class, self, closure);                               \
  }

LOOPSCOPE_STEP(SGD, "_ZN5torch5optim3SGD4stepESt8functionIFN2at6TensorEvEE")
LOOPSCOPE_STEP(Adam, "_ZN5torch5optim4Adam4stepESt8functionIFN2at6TensorEvEE")
LOOPSCOPE_STEP(AdamW, "_ZN5torch5optim5AdamW4stepESt8functionIFN2at6TensorEvEE")
LOOPSCOPE_STEP(LBFGS, "_ZN5torch5optim5LBFGS4stepESt8functionIFN2at6TensorEvEE")
LOOPSCOPE_STEP(Adagrad, "_ZN5torch5optim7Adagrad4stepESt8functionIFN2at6TensorEvEE")
LOOPSCOPE_STEP(RMSprop, "_ZN5torch5optim7RMSprop4stepESt8functionIFN2at6TensorEvEE")

#define LOOPSCOPE_SAMPLER(Class, Result, next_mangled, reset_mangled)                                    \
  LOOPSCOPE_EXPORT loopscope::Result Class##Next(void*, std::size_t) asm(next_mangled);                  \
  loopscope::Result Class##Next(void* self, std::size_t batch_size) {                                    \
    using Real = loopscope::Next<loopscope::Result>;                                                     \
    static auto* real = reinterpret_cast<Real*>(loopscope::RealFunction(next_mangled));                  \
    return loopscope::ForwardNext(real, #Class, self, batch_size);                                       \
  }                                                                                                      \
  extern "C" LOOPSCOPE_EXPORT void Class##Reset(void*, std::uint64_t, std::uint64_t) asm(reset_mangled); \
  void Class##Reset(void* self, std::uint64_t size, std::uint64_t has_size) {                            \
    static auto* real = reinterpret_cast<loopscope::Reset*>(loopscope::RealFunction(reset_mangled));     \
    real(self, size, has_size);                                                                          \
    loopscope::loop::SamplerReset(self, loopscope::capture::NowNs());                                    \
  }

LOOPSCOPE_SAMPLER(RandomSampler, IndicesResult, "_ZN5torch4data8samplers13RandomSampler4nextEm",
                  "_ZN5torch4data8samplers13RandomSampler5resetESt8optionalImE")
LOOPSCOPE_SAMPLER(SequentialSampler, IndicesResult, "_ZN5torch4data8samplers17SequentialSampler4nextEm",
                  "_ZN5torch4data8samplers17SequentialSampler5resetESt8optionalImE")
LOOPSCOPE_SAMPLER(StreamSampler, SizeResult, "_ZN5torch4data8samplers13StreamSampler4nextEm",
                  "_ZN5torch4data8samplers13StreamSampler5resetESt8optionalImE")
LOOPSCOPE_SAMPLER(DistributedRandomSampler, IndicesResult, "_ZN5torch4data8samplers24DistributedRandomSampler4nextEm",
                  "_ZN5torch4data8samplers24DistributedRandomSampler5resetESt8optionalImE")
LOOPSCOPE_SAMPLER(DistributedSequentialSampler, IndicesResult,
                  "_ZN5torch4data8samplers28DistributedSequentialSampler4nextEm",
                  "_ZN5torch4data8samplers28DistributedSequentialSampler5resetESt8optionalImE")

// Every constructor of an optimizer comes here.
#define LOOPSCOPE_ADD_GROUP "_ZN5torch5optim9Optimizer15add_param_groupERKNS0_19OptimizerParamGroupE"
extern "C" LOOPSCOPE_EXPORT void OptimizerAddGroup(void*, const void*) asm(LOOPSCOPE_ADD_GROUP);
void OptimizerAddGroup(void* self, const void* group) {
  static auto* real = reinterpret_cast<void (*)(void*, const void*)>(loopscope::RealFunction(LOOPSCOPE_ADD_GROUP));
  loopscope::loop::OptimizerMade();
  real(self, group);
}

#define LOOPSCOPE_ZERO_GRAD "_ZN5torch5optim9Optimizer9zero_gradEb"
extern "C" LOOPSCOPE_EXPORT void OptimizerZeroGrad(void*, bool) asm(LOOPSCOPE_ZERO_GRAD);
void OptimizerZeroGrad(void* self, bool set_to_none) {
  static auto* real = reinterpret_cast<void (*)(void*, bool)>(loopscope::RealFunction(LOOPSCOPE_ZERO_GRAD));
  if (!loopscope::loop::Active()) return real(self, set_to_none);
  const std::uint64_t begin_ns = loopscope::capture::NowNs();
  loopscope::loop::OptimizerZeroed();
  loopscope::loop::ZeroGradBegins();
  loopscope::Closing closing([&](bool) { loopscope::loop::ZeroGradEnds(begin_ns, set_to_none); });
  real(self, set_to_none);
}

// The module's version, which recurses into the modules inside.
#define LOOPSCOPE_MODULE_ZERO_GRAD "_ZN5torch2nn6Module9zero_gradEb"
extern "C" LOOPSCOPE_EXPORT void ModuleZeroGrad(void*, bool) asm(LOOPSCOPE_MODULE_ZERO_GRAD);
void ModuleZeroGrad(void* self, bool set_to_none) {
  static thread_local int depth = 0;
  static auto* real = reinterpret_cast<void (*)(void*, bool)>(loopscope::RealFunction(LOOPSCOPE_MODULE_ZERO_GRAD));
  if (depth > 0 || !loopscope::loop::Active()) return real(self, set_to_none);
  const std::uint64_t begin_ns = loopscope::capture::NowNs();
  ++depth;
  loopscope::loop::ZeroGradBegins();
  loopscope::Closing closing([&](bool) {
    --depth;
    loopscope::loop::ZeroGradEnds(begin_ns, set_to_none);
  });
  real(self, set_to_none);
}

// backward(roots, gradients, std::optional<bool> retain_graph (in one register), bool create_graph, inputs)
#define LOOPSCOPE_BACKWARD "_ZN5torch8autograd8backwardERKSt6vectorIN2at6TensorESaIS3_EES7_St8optionalIbEbS7_"
extern "C" LOOPSCOPE_EXPORT void AutogradBackward(const void*, const void*, std::uint64_t, bool,
                                                  const void*) asm(LOOPSCOPE_BACKWARD);
void AutogradBackward(const void* roots, const void* gradients, std::uint64_t retain_graph, bool create_graph,
                      const void* inputs) {
  using Backward = void(const void*, const void*, std::uint64_t, bool, const void*);
  static auto* real = reinterpret_cast<Backward*>(loopscope::RealFunction(LOOPSCOPE_BACKWARD));
  if (!loopscope::loop::Active()) return real(roots, gradients, retain_graph, create_graph, inputs);
  const std::uint64_t begin_ns = loopscope::capture::NowNs();
  loopscope::loop::BackwardBegins(roots);
  loopscope::Closing closing([&](bool threw) { loopscope::loop::BackwardEnds(begin_ns, threw); });
  real(roots, gradients, retain_graph, create_graph, inputs);
  closing.Returned();
}
