#include "profiler/importers/importers.h"

namespace loopscope {

#define LOOPSCOPE_IMPORTER(stem, constant) extern const Importer constant;
#include "profiler/importers/importers.def"
#undef LOOPSCOPE_IMPORTER

std::span<const Importer* const> AllImporters() {
  static constexpr const Importer* kAll[] = {
#define LOOPSCOPE_IMPORTER(stem, constant) &constant,
#include "profiler/importers/importers.def"
#undef LOOPSCOPE_IMPORTER
      nullptr};
  return std::span(kAll).first(std::size(kAll) - 1);
}

const Importer* FindImporter(std::string_view id) {
  for (const Importer* one : AllImporters()) {
    if (one->id == id) return one;
  }
  return nullptr;
}

}  // namespace loopscope
