// Whether our libraries can be preloaded into a program, judged by its file: used by the launcher, and by the preloaded
// library between fork and exec. Hence only system calls and stack memory.
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "probes/elf_file.h"

namespace loopscope {

enum class PreloadFit {
  kFits,          // or not an ELF file, or linked statically, so that nothing is preloaded into it
  kOtherMachine,  // of 32 bits, or of another processor: the loader prints a message for each library
  kOtherLibc,     // musl's loader does not start it
  kSanitizer,     // linked with one whose library has to be the first of all
};

// Sanitizer libraries that refuse to start after another library.
inline bool IsSanitizer(std::string_view library) noexcept {
  const std::size_t slash = library.rfind('/');
  if (slash != library.npos) library.remove_prefix(slash + 1);
  for (const std::string_view name : {"libasan.so", "libtsan.so", "libhwasan.so", "libclang_rt.asan",
                                      "libclang_rt.tsan", "libclang_rt.hwasan", "libclang_rt.msan"}) {
    if (library.starts_with(name)) return true;
  }
  return false;
}

namespace preload_fit {

inline constexpr int kMostScripts = 4;

inline bool NeedsSanitizer(const elf::File& file, const elf::Parts& parts) noexcept {
  const Elf64_Phdr* const dynamic = parts.Find(PT_DYNAMIC);
  if (dynamic == nullptr) return false;
  const std::uint64_t count = dynamic->p_filesz / sizeof(Elf64_Dyn);
  std::uint64_t names = 0;
  Elf64_Dyn entry;
  for (std::uint64_t i = 0; i < count && i < elf::kMostEntries && file.Get(entry, dynamic->p_offset + i * sizeof entry);
       ++i) {
    if (entry.d_tag == DT_STRTAB) names = parts.Offset(entry.d_un.d_ptr);
  }
  for (std::uint64_t i = 0; i < count && i < elf::kMostEntries && file.Get(entry, dynamic->p_offset + i * sizeof entry);
       ++i) {
    if (entry.d_tag != DT_NEEDED || names == 0) continue;
    char name[64];
    const std::size_t size = file.Read(name, sizeof name - 1, names + entry.d_un.d_val);
    name[size] = '\0';
    if (IsSanitizer(name)) return true;
  }
  return false;
}

inline PreloadFit OfElf(const elf::File& file, const Elf64_Ehdr& header) noexcept {
#if defined(__x86_64__)
  constexpr auto kMachine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr auto kMachine = EM_AARCH64;
#endif
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) return PreloadFit::kOtherMachine;
  elf::Parts parts;
  while (parts.count < header.e_phnum && parts.count < elf::kMostParts) {
    if (!file.Get(parts.all[parts.count], header.e_phoff + parts.count * sizeof(Elf64_Phdr))) break;
    ++parts.count;
  }
  const Elf64_Phdr* const loader = parts.Find(PT_INTERP);
  if (loader == nullptr) return PreloadFit::kFits;
  char name[PATH_MAX];
  name[file.Read(name, sizeof name - 1, loader->p_offset)] = '\0';
  if (std::strstr(name, "ld-musl") != nullptr) return PreloadFit::kOtherLibc;
  return NeedsSanitizer(file, parts) ? PreloadFit::kSanitizer : PreloadFit::kFits;
}

}  // namespace preload_fit

// `path` as passed to execve. An unreadable file counts as fitting.
inline PreloadFit PreloadFitOf(const char* path) noexcept {
  char interpreter[PATH_MAX];
  for (int scripts = 0; scripts < preload_fit::kMostScripts; ++scripts) {
    const elf::File file(path);
    Elf64_Ehdr header{};
    char head[256];
    const std::size_t size = file.Read(head, sizeof head - 1, 0);
    head[size] = '\0';
    if (size >= sizeof header && std::memcmp(head, ELFMAG, SELFMAG) == 0) {
      std::memcpy(&header, head, sizeof header);
      return preload_fit::OfElf(file, header);
    }
    if (size < 3 || head[0] != '#' || head[1] != '!') break;
    const char* begin = head + 2;
    while (*begin == ' ' || *begin == '\t') ++begin;
    const std::size_t length = std::strcspn(begin, " \t\n");
    std::memcpy(interpreter, begin, length);
    interpreter[length] = '\0';
    path = interpreter;
  }
  return PreloadFit::kFits;
}

}  // namespace loopscope
