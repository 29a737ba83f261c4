#include "profiler/importers/shared/cuda_names.h"

#include "profiler/importers/shared/ascii.h"

namespace loopscope {

std::string_view PlainCall(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  if (end < name.size() && name.substr(0, end).ends_with("_v")) name = name.substr(0, end - 2);
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

bool IsSynchronizingCall(std::string_view plain_call) {
  return (plain_call.starts_with("cu") || plain_call.starts_with("hip")) && plain_call.ends_with("Synchronize");
}

std::string CollectiveOfKernel(std::string_view kernel) {
  // Template or lambda arguments may name a collective that this kernel does not run.
  kernel = kernel.substr(0, kernel.find_first_of("(<"));
  for (const std::string_view prefix : {"ncclDevKernel_", "ncclSymDevKernel_", "ncclSymkDevKernel_", "ncclKernel_"}) {
    if (!kernel.starts_with(prefix)) continue;
    kernel.remove_prefix(prefix.size());
    return Lower(kernel.substr(0, kernel.find('_')));
  }
  if (kernel.starts_with("nccl")) return "collective";
  const std::size_t multimem = kernel.find("multimem_");
  if (multimem != kernel.npos) {
    std::string name = Lower(kernel.substr(multimem + 9));
    for (const std::string_view one : {"all_reduce", "all_gather", "reduce_scatter"}) {
      if (!name.starts_with(one)) continue;
      name.resize(one.size());
      std::erase(name, '_');
      return name;
    }
  }
  return "";
}

std::string_view NameOfCopy(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToDevice:
      return "Memcpy HtoD";
    case CopyKind::kDeviceToHost:
      return "Memcpy DtoH";
    case CopyKind::kDeviceToDevice:
      return "Memcpy DtoD";
    case CopyKind::kHostToHost:
      return "Memcpy HtoH";
    case CopyKind::kPeer:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

}  // namespace loopscope
