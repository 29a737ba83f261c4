#include "probes/preload/real_function.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <span>

namespace loopscope {
namespace {

// The loaded library whose path contains `name`, e.g. one that was opened outside the global scope.
void* LoadedLibrary(const char* name) noexcept {
  struct Search {
    const char* name;
    void* handle;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        auto& wanted = *static_cast<Search*>(into);
        if (info->dlpi_name == nullptr || std::strstr(info->dlpi_name, wanted.name) == nullptr) return 0;
        wanted.handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        return wanted.handle != nullptr ? 1 : 0;
      },
      &search);
  return search.handle;
}

using Relocation = ElfW(Rela);
using Symbol = ElfW(Sym);

bool NamesOther(std::span<const Relocation> relocations, const Symbol* symbols, const char* strings,
                const char* name) noexcept {
  for (const Relocation& one : relocations) {
    const Symbol& symbol = symbols[ELF64_R_SYM(one.r_info)];
    if (symbol.st_shndx == SHN_UNDEF && std::strcmp(strings + symbol.st_name, name) == 0) return true;
  }
  return false;
}

}  // namespace

void* RealFunction(const char* symbol) noexcept {
  if (void* next = dlsym(RTLD_NEXT, symbol)) return next;
  void* torch = LoadedLibrary("libtorch_cpu.so");
  return torch != nullptr ? dlsym(torch, symbol) : nullptr;
}

bool LibraryCalls(void* function, const char* name) noexcept {
  Dl_info info{};
  link_map* library = nullptr;
  if (dladdr1(function, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 || library == nullptr) {
    return false;
  }
  const Symbol* symbols = nullptr;
  const char* strings = nullptr;
  const Relocation *calls = nullptr, *others = nullptr;
  std::size_t call_bytes = 0, other_bytes = 0;
  for (const ElfW(Dyn)* entry = library->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Symbol*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_JMPREL) calls = reinterpret_cast<const Relocation*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELA) others = reinterpret_cast<const Relocation*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) call_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELASZ) other_bytes = entry->d_un.d_val;
  }
  return symbols != nullptr && strings != nullptr &&
         (NamesOther({calls, call_bytes / sizeof *calls}, symbols, strings, name) ||
          NamesOther({others, other_bytes / sizeof *others}, symbols, strings, name));
}

}  // namespace loopscope
