#include "profiler/importers/capture/library_functions.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

namespace loopscope {
namespace {

// "at::native::Copy<float>::Run" → "at::native::Copy::Run": template arguments are long and say little.
std::string WithoutTemplates(const std::string& name) {
  if (name.find("operator") != name.npos) return name;
  std::string kept;
  int depth = 0;
  for (const char c : name) {
    depth += c == '<';
    if (depth == 0) kept += c;
    depth -= c == '>' && depth > 0;
  }
  return kept;
}

}  // namespace

// A file's functions in the order of their addresses. The table is read once: looking up one address with libdw walks
// all symbols, 20 ms in libtorch.
class LibraryFunctions::Symbols {
 public:
  explicit Symbols(const std::string& path) {
    // The capture may name anything; a pipe would never end.
    std::error_code error;
    if (elf_version(EV_CURRENT) == EV_NONE || !std::filesystem::is_regular_file(path, error)) return;
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    elf_ = file_ < 0 ? nullptr : elf_begin(file_, ELF_C_READ_MMAP, nullptr);
    if (elf_) Read();
  }
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;
  ~Symbols() {
    elf_end(elf_);
    if (file_ >= 0) close(file_);
  }

  std::string NameAt(std::uint64_t file_offset) const {
    const std::uint64_t address = AddressOf(file_offset);
    const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
    if (address == 0 || after == functions_.begin()) return "";
    const Function& function = *std::prev(after);
    return address < function.end ? WithoutTemplates(ReadableName(elf_strptr(elf_, names_, function.name))) : "";
  }

 private:
  struct Function {
    std::uint64_t begin = 0, end = 0;
    std::size_t name = 0;
  };

  // The full table, which a stripped file lacks, else that of the exported functions.
  void Read() {
    Elf_Scn* best = nullptr;
    GElf_Shdr header{}, best_header{};
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section; section = elf_nextscn(elf_, section)) {
      if (!gelf_getshdr(section, &header)) continue;
      const bool full = header.sh_type == SHT_SYMTAB;
      if (!full && (header.sh_type != SHT_DYNSYM || best)) continue;
      best = section;
      best_header = header;
    }
    Elf_Data* data = best != nullptr && best_header.sh_entsize > 0 ? elf_getdata(best, nullptr) : nullptr;
    if (data == nullptr) return;
    names_ = best_header.sh_link;
    const auto count = static_cast<int>(best_header.sh_size / best_header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0) continue;
      functions_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, symbol.st_name});
    }
    std::ranges::sort(functions_, {}, &Function::begin);
  }

  // 0 when no loaded segment contains it.
  std::uint64_t AddressOf(std::uint64_t file_offset) const {
    std::size_t count = 0;
    if (elf_ == nullptr || elf_getphdrnum(elf_, &count) != 0) return 0;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (!gelf_getphdr(elf_, static_cast<int>(i), &segment) || segment.p_type != PT_LOAD) continue;
      if (file_offset < segment.p_offset || file_offset - segment.p_offset >= segment.p_filesz) continue;
      return file_offset - segment.p_offset + segment.p_vaddr;
    }
    return 0;
  }

  int file_ = -1;
  Elf* elf_ = nullptr;
  std::size_t names_ = 0;  // the section of the names
  std::vector<Function> functions_;
};

LibraryFunctions::LibraryFunctions(std::span<const ModuleMapping> modules) {
  for (const ModuleMapping& module : modules) by_begin_.try_emplace(module.begin, &module);
}

LibraryFunctions::~LibraryFunctions() = default;

std::string LibraryFunctions::At(std::uint64_t return_address) {
  const std::uint64_t address = return_address - 1;
  const auto after = by_begin_.upper_bound(address);
  if (after == by_begin_.begin()) return "";
  const ModuleMapping& mapping = *std::prev(after)->second;
  if (address >= mapping.end || IsUserModule(mapping.path)) return "";
  std::unique_ptr<Symbols>& symbols = open_[mapping.path];
  if (!symbols) symbols = std::make_unique<Symbols>(mapping.path);
  return symbols->NameAt(address - mapping.begin + mapping.file_offset);
}

}  // namespace loopscope
