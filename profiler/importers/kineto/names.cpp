#include "profiler/importers/kineto/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

constexpr auto kCategories = std::to_array<std::pair<std::string_view, KinetoCategory>>({
    {"cpu_op", KinetoCategory::kOp},
    {"user_annotation", KinetoCategory::kAnnotation},
    {"kernel", KinetoCategory::kKernel},
    {"gpu_memcpy", KinetoCategory::kCopy},
    {"gpu_memset", KinetoCategory::kMemset},
    {"cuda_sync", KinetoCategory::kWait},
    {"python_function", KinetoCategory::kPython},
    {"cpu_instant_event", KinetoCategory::kInstant},
    // Categories of torch up to 1.12.
    {"Operator", KinetoCategory::kOp},
    {"Runtime", KinetoCategory::kCall},
    {"Kernel", KinetoCategory::kKernel},
    {"Memcpy", KinetoCategory::kCopy},
    {"Memset", KinetoCategory::kMemset},
});

struct Dtype {
  std::string_view name, wire;
  std::uint64_t bytes;
};

// Names of C++ types, as ops carry them, and of torch's scalar types, as collectives do.
constexpr auto kDtypes = std::to_array<Dtype>({
    {"float", "f32", 4},
    {"double", "f64", 8},
    {"c10::Half", "f16", 2},
    {"c10::BFloat16", "bf16", 2},
    {"long", "i64", 8},
    {"long int", "i64", 8},
    {"int", "i32", 4},
    {"short", "i16", 2},
    {"short int", "i16", 2},
    {"signed char", "i8", 1},
    {"unsigned char", "u8", 1},
    {"bool", "b1", 1},
    {"c10::complex<float>", "c64", 8},
    {"Float", "f32", 4},
    {"Double", "f64", 8},
    {"Half", "f16", 2},
    {"BFloat16", "bf16", 2},
    {"Long", "i64", 8},
    {"Int", "i32", 4},
    {"Short", "i16", 2},
    {"Char", "i8", 1},
    {"Byte", "u8", 1},
    {"Bool", "b1", 1},
    {"ComplexFloat", "c64", 8},
});

// Top-level modules of Python's standard library that appear in training programs, and packages that a program uses
// rather than contains.
constexpr std::string_view kLibraryModules =
    " _bootlocale _collections_abc _pytest _weakrefset abc accelerate aiohttp apex argparse ast asyncio base64"
    " bdb bisect bz2 cProfile cloudpickle codecs collections concurrent contextlib copy copyreg csv ctypes cv2"
    " cython dataclasses datasets datetime debugpy decimal deepspeed dill dis email enum fairscale filelock"
    " fnmatch fractions fsspec functools genericpath getpass gettext glob gzip hashlib heapq huggingface_hub"
    " hydra importlib inspect io ipykernel IPython json jinja2 joblib keyword lightning lightning_fabric"
    " lightning_utilities linecache locale logging lzma matplotlib megatron mlflow multiprocessing networkx"
    " ntpath numbers numpy omegaconf opcode operator optparse os packaging pandas pathlib pdb pickle PIL pkgutil"
    " platform posixpath pprint psutil pyarrow pytorch_lightning queue random re regex requests reprlib runpy"
    " safetensors scipy selectors shlex shutil signal sklearn socket ssl struct subprocess sympy tarfile tempfile"
    " tensorboard tensorboardX textwrap threading timeit timm tokenize tokenizers torch torch_xla torchaudio"
    " torchdata torchmetrics torchtext torchvision tornado tqdm traceback transformers transformer_engine triton"
    " types typing typing_extensions unittest urllib urllib3 uuid wandb warnings weakref xformers xml yaml"
    " zipfile zlib ";

const Dtype* FindDtype(std::string_view name) {
  const auto* const found = std::ranges::find(kDtypes, name, &Dtype::name);
  return found == kDtypes.end() ? nullptr : found;
}

// "Optimizer.step#SGD.step" → "SGD".
std::string_view OptimizerOf(std::string_view name) {
  const std::string_view call = name.substr(name.find('#') + 1);
  const std::size_t dot = call.rfind('.');
  return dot == call.npos || dot == 0 ? call : call.substr(0, dot);
}

}  // namespace

KinetoCategory CategoryOfKineto(std::string_view cat) {
  for (const auto& [name, category] : kCategories) {
    if (name == cat) return category;
  }
  const bool device = cat.starts_with("cuda_") || cat.starts_with("hip_") || cat.starts_with("xpu_");
  if (device && (cat.ends_with("_runtime") || cat.ends_with("_driver"))) return KinetoCategory::kCall;
  return KinetoCategory::kOther;
}

bool IsHostRange(KinetoCategory category) {
  return category == KinetoCategory::kOp || category == KinetoCategory::kAnnotation ||
         category == KinetoCategory::kCall;
}

bool IsDeviceWork(KinetoCategory category) {
  return category == KinetoCategory::kKernel || category == KinetoCategory::kCopy ||
         category == KinetoCategory::kMemset || category == KinetoCategory::kWait;
}

HostName HostNameOf(KinetoCategory category, std::string_view name) {
  if (category == KinetoCategory::kCall) {
    return {true, IsSynchronizingCall(PlainCall(name)) ? RangeCategory::kSync : RangeCategory::kDeviceCall, name};
  }
  // Old versions of torch write their own ranges as ops.
  const bool own = name.starts_with("Optimizer.") || name.starts_with("enumerate(DataLoader)");
  if (category == KinetoCategory::kOp && !own && !name.starts_with("ProfilerStep#")) return {false, {}, name};
  const RangeCategory range = CategoryOfRange(name);
  const bool optimizer = name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#");
  return {true, range, optimizer ? OptimizerOf(name) : name};
}

CopyName CopyNameOf(std::string_view name) {
  constexpr auto kKinds = std::to_array<std::pair<std::string_view, CopyKind>>({
      {"HtoD", CopyKind::kHostToDevice},
      {"DtoH", CopyKind::kDeviceToHost},
      {"DtoD", CopyKind::kDeviceToDevice},
      {"HtoH", CopyKind::kHostToHost},
      {"PtoP", CopyKind::kPeer},
      {"HostToDevice", CopyKind::kHostToDevice},
      {"DeviceToHost", CopyKind::kDeviceToHost},
      {"DeviceToDevice", CopyKind::kDeviceToDevice},
      {"HostToHost", CopyKind::kHostToHost},
      {"PeerToPeer", CopyKind::kPeer},
  });
  CopyName copy;
  for (const auto& [text, kind] : kKinds) {
    if (name.find(text) != name.npos) copy.kind = kind;
  }
  if (name.find("Pageable") != name.npos) copy.flags |= kDevicePageable;
  if (name.find("Pinned") != name.npos) copy.flags |= kDevicePinned;
  return copy;
}

bool IsCollectiveKernel(std::string_view name) {
  return !CollectiveOfKernel(name).empty() || name.find("ncclKernel") != name.npos ||
         name.find("ncclDevKernel") != name.npos || name.starts_with("rccl");
}

std::uint64_t BytesOfDtype(std::string_view dtype) {
  const Dtype* const known = FindDtype(dtype);
  return known != nullptr ? known->bytes : 0;
}

std::string_view WireDtype(std::string_view type) {
  const Dtype* const known = FindDtype(type);
  return known != nullptr ? known->wire : "other";
}

std::optional<Where> WhereOfFrame(std::string_view frame) {
  const std::size_t close = frame.find("): ");
  const std::size_t open = close == frame.npos ? close : frame.rfind('(', close);
  if (open == frame.npos || open == 0) return std::nullopt;
  Where where{std::string(frame.substr(0, open)), 0, std::string(frame.substr(close + 3))};
  const auto [end, error] = std::from_chars(frame.data() + open + 1, frame.data() + close, where.line);
  if (error != std::errc() || end != frame.data() + close || where.line < 0) return std::nullopt;
  return where;
}

bool IsUserFrame(const Where& where) {
  const std::string_view path = where.path;
  if (path.empty() || path.front() == '<') return false;
  for (const std::string_view part : {"site-packages/", "dist-packages/", "/lib/python", "/lib64/python"}) {
    if (path.find(part) != path.npos) return false;
  }
  const std::string_view first = path.substr(0, path.find('/'));
  const std::string_view module = first.ends_with(".py") ? first.substr(0, first.size() - 3) : first;
  return kLibraryModules.find(' ' + std::string(module) + ' ') == kLibraryModules.npos;
}

}  // namespace loopscope
