// Writes a trace as PyTorch's profiler lays it out, of about the size asked for: `kineto_writer FILE MB`. A
// convolutional net trains on one of two GPUs: forward, backward on a thread of its own, gradients all-reduced, a fused
// optimizer; with calls of the CUDA runtime, kernels, flows between all of them, shapes and memory events. Prints how
// many events it has.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace {

constexpr int kLayers = 48, kPid = 4711, kTrainer = 4711, kEngine = 4920;
constexpr double kFirstUs = 4'458'676'388'068.75;

class TraceWriter {
 public:
  explicit TraceWriter(std::FILE* file) : file_(file) {
    Put(R"({{
  "schemaVersion": 1,
  "deviceProperties": [
    {{
      "id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42298834944, "computeMajor": 8, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "warpSize": 32, "numSms": 108
    }}
  ],
  "distributedInfo": {{"backend": "nccl", "rank": 0, "world_size": 2, "nccl_version": "2.17.1"}},
  "baseTimeNanoseconds": 1711964646000000000,
  "traceEvents": [
)");
  }

  void Step(int number) {
    const double start = now_;
    for (int layer = 0; layer < kLayers; ++layer) Forward(layer);
    const double backward = now_;
    for (int layer = kLayers; layer-- > 0;) Backward(layer);
    device_ = std::max(device_, now_);
    Host("user_annotation", "Optimizer.step#SGD.step", kTrainer, now_, 380.125);
    Op("aten::_foreach_add_", kTrainer, now_ + 20, 300.5);
    Launch("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::TensorListMetadata<2>>",
           kTrainer, now_ + 40, 90.25);
    now_ += 400;
    Host("user_annotation", fmt::format("ProfilerStep#{}", number), kTrainer, start, now_ - start);
    Host("user_annotation", "## backward ##", kTrainer, backward, now_ - backward - 400);
    now_ += 150.75;
  }

  void End() {
    Put("\n  ]\n}}\n");
    Flush();
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t events() const { return events_; }
  bool failed() const { return failed_; }

 private:
  template <class... Args>
  void Put(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Args>(args)...);
    if (buffer_.size() > (1 << 20)) Flush();
  }
  void Flush() {
    failed_ |= std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size();
    bytes_ += buffer_.size();
    buffer_.clear();
  }
  std::string_view Comma() { return events_++ == 0 ? "" : ",\n"; }

  void Head(std::string_view cat, std::string_view name, int pid, int tid, double ts, double dur) {
    Put("{}  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    \"ts\": {:.3f}, "
        "\"dur\": {:.3f},\n    \"args\": {{\n      ",
        Comma(), cat, name, pid, tid, ts, dur);
  }
  void Host(std::string_view cat, std::string_view name, int tid, double ts, double dur) {
    Head(cat, name, kPid, tid, ts, dur);
    Put("\"External id\": {}, \"Record function id\": {}, \"Ev Idx\": {}\n    }}\n  }}", id_, id_, id_);
    ++id_;
  }
  void Op(std::string_view name, int tid, double ts, double dur) { Host("cpu_op", name, tid, ts, dur); }
  void OpWithInputs(std::string_view name, double ts, double dur, int layer, bool graph) {
    Head("cpu_op", name, kPid, kTrainer, ts, dur);
    Put("\"External id\": {}, \"Record function id\": {}, ", id_, id_);
    if (graph) Put("\"Sequence number\": {}, \"Fwd thread id\": 0, ", sequence_);
    Put("\"Concrete Inputs\": [\"\", \"\", \"\", \"[1, 1]\", \"[1, 1]\"], \"Input type\": [\"float\", \"float\", "
        "\"float\", \"ScalarList\", \"ScalarList\"], \"Input Dims\": [[32, {}, 28, 28], [{}, {}, 3, 3], [{}], [], []], "
        "\"Ev Idx\": {}\n    }}\n  }}",
        8 * layer + 8, 8 * layer + 16, 8 * layer + 8, 8 * layer + 16, id_);
    ++id_;
  }
  void Node(std::string_view name, double ts, double dur, std::uint32_t sequence) {
    Head("cpu_op", name, kPid, kEngine, ts, dur);
    Put("\"External id\": {}, \"Record function id\": {}, \"Sequence number\": {}, \"Fwd thread id\": 1, \"Ev Idx\": {}"
        "\n    }}\n  }}",
        id_, id_, sequence, id_);
    ++id_;
  }

  void Flow(char phase, std::string_view cat, std::uint64_t id, int pid, int tid, double ts) {
    Put("{}  {{\n    \"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {:.3f},\n    \"cat\": \"{}\", "
        "\"name\": "
        "\"{}\"{}\n  }}",
        Comma(), phase, id, pid, tid, ts, cat, cat, phase == 'f' ? ", \"bp\": \"e\"" : "");
  }
  double DeviceTime(double launched, double length) {
    const double start = std::max(device_, launched + 9.5);
    device_ = start + length;
    return start;
  }
  void Launch(std::string_view kernel, int tid, double ts, double length) {
    const std::uint64_t correlation = id_++;
    Head("cuda_runtime", "cudaLaunchKernel", kPid, tid, ts, 6.25);
    Put("\"External id\": {}, \"cbid\": 211, \"correlation\": {}\n    }}\n  }}", correlation, correlation);
    Flow('s', "ac2g", correlation, kPid, tid, ts);
    const double start = DeviceTime(ts, length);
    Head("kernel", kernel, 0, 7, start, length);
    Put("\"External id\": {}, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": {}, "
        "\"registers per thread\": 40, \"shared memory\": 400, \"blocks per SM\": 4.740741, \"warps per SM\": "
        "75.851852, "
        "\"grid\": [512, 1, 1], \"block\": [512, 1, 1], \"est. achieved occupancy %\": 100\n    }}\n  }}",
        correlation, correlation);
    Flow('f', "ac2g", correlation, 0, 7, start);
  }
  void AllReduce(double ts, int elements) {
    const std::uint64_t correlation = id_++;  // twelve layers take longer than one: the stream is free
    Host("user_annotation", "nccl:all_reduce", kEngine, ts, 92.8);
    Head("cuda_runtime", "cudaLaunchKernelExC", kPid, kEngine, ts + 40, 6.25);
    Put("\"External id\": {}, \"cbid\": 430, \"correlation\": {}\n    }}\n  }}", correlation, correlation);
    Head("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", 0, 40, ts + 60,
         1836.669);
    Put("\"External id\": {}, \"device\": 0, \"stream\": 40, \"correlation\": {}, \"Collective name\": \"allreduce\", "
        "\"In msg nelems\": {}, \"Out msg nelems\": {}, \"Group size\": 2, \"dtype\": \"Float\", \"Process Group "
        "Name\": "
        "\"0\"\n    }}\n  }}",
        correlation, correlation, elements, elements);
  }
  void Memory(double ts, std::int64_t bytes) {
    allocated_ += bytes;
    Put("{}  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": {}, "
        "\"tid\": {}, \"ts\": {:.3f},\n    \"args\": {{\n      \"Total Reserved\": 8589934592, \"Total Allocated\": "
        "{}, "
        "\"Bytes\": {}, \"Addr\": {}, \"Device Id\": 0, \"Device Type\": 1\n    }}\n  }}",
        Comma(), kPid, kTrainer, ts, allocated_, bytes, 140'000'000'000'000 + 512 * id_);
  }

  void Forward(int layer) {
    const double at = now_;
    OpWithInputs("aten::conv2d", at, 82.5, layer, true);
    OpWithInputs("aten::convolution", at + 2.125, 79.75, layer, true);
    OpWithInputs("aten::_convolution", at + 5.5, 75.25, layer, false);
    OpWithInputs("aten::cudnn_convolution", at + 9.75, 68.5, layer, false);
    Memory(at + 12, 4'194'304);
    Launch("void cudnn::cnn::implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, false, true, true>", kTrainer,
           at + 30, 61.75);
    Flow('s', "fwdbwd", sequence_, kPid, kTrainer, at);
    ++sequence_;
    OpWithInputs("aten::batch_norm", at + 85, 40.5, layer, true);
    OpWithInputs("aten::cudnn_batch_norm", at + 89, 34.25, layer, true);
    Launch("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1, true>", kTrainer, at + 95, 22.5);
    ++sequence_;
    Op("aten::relu", kTrainer, at + 128, 25.25);
    Op("aten::clamp_min", kTrainer, at + 131, 20.5);
    Launch("void at::native::vectorized_elementwise_kernel<4, at::native::clamp_min_scalar_kernel_impl>", kTrainer,
           at + 135, 9.875);
    now_ += 158.5;
  }

  void Backward(int layer) {
    const double at = now_;
    const std::uint32_t sequence = sequence_ - 2 * static_cast<std::uint32_t>(kLayers - layer);
    Node("autograd::engine::evaluate_function: CudnnBatchNormBackward0", at, 60.25, sequence + 1);
    Node("CudnnBatchNormBackward0", at + 3, 52.5, sequence + 1);
    Op("aten::cudnn_batch_norm_backward", kEngine, at + 6, 44.75);
    Launch("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>", kEngine, at + 20, 41.407);
    Node("autograd::engine::evaluate_function: ConvolutionBackward0", at + 64, 120.5, sequence);
    Flow('f', "fwdbwd", sequence, kPid, kEngine, at + 64);
    Node("ConvolutionBackward0", at + 67, 114.25, sequence);
    Op("aten::convolution_backward", kEngine, at + 70, 108.5);
    Launch("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>", kEngine, at + 80, 88.375);
    Launch("void cudnn::cnn::dgrad_engine<float, 128, 6, 8, 3, 3, 5, false>", kEngine, at + 110, 79.5);
    Memory(at + 150, -4'194'304);
    Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", kEngine, at + 187, 14.5);
    if (layer % 12 == 0) AllReduce(at + 190, 6'637'568);
    now_ += 210.25;
  }

  std::FILE* file_;
  fmt::memory_buffer buffer_;
  double now_ = kFirstUs, device_ = 0;
  std::uint64_t id_ = 1, bytes_ = 0, events_ = 0;
  std::uint32_t sequence_ = 0;
  std::int64_t allocated_ = 1'073'741'824;
  bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const double wanted = argc == 3 ? std::atof(argv[2]) * 1e6 : 0;
  std::FILE* const file = wanted > 0 ? std::fopen(argv[1], "w") : nullptr;
  if (!file) {
    fmt::print(stderr, "usage: kineto_writer FILE MB\n");
    return 2;
  }
  TraceWriter trace(file);
  for (int step = 0; step < 3 || static_cast<double>(trace.bytes()) < wanted; ++step) trace.Step(step);
  trace.End();
  if (trace.failed() | (std::fclose(file) != 0)) {
    fmt::print(stderr, "kineto_writer: {} cannot be written: is the disk full?\n", argv[1]);
    return 1;
  }
  fmt::print("{}\n", trace.events());
  return 0;
}
