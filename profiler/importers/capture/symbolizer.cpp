#include "profiler/importers/capture/symbolizer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace loopscope {
namespace {

using Scopes = std::unique_ptr<Dwarf_Die, decltype(&std::free)>;

// Names of the standard library's and torch's own code that is compiled into the user's file.
bool IsUserFunction(std::string_view name) {
  for (const std::string_view prefix :
       {"std::", "torch::", "c10::", "at::", "__gnu_cxx::", "__libc_", "_start", "_init"}) {
    if (name.starts_with(prefix)) return false;
  }
  return !name.empty();
}

// Where a function is declared: what an inlined or out-of-line one refers back to.
Dwarf_Die Declared(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  for (const unsigned name : {DW_AT_abstract_origin, DW_AT_specification}) {
    if (dwarf_attr(&die, name, &attribute) && dwarf_formref_die(&attribute, &origin)) die = origin;
  }
  return die;
}

// "app::Loop::": the namespaces and classes around a declaration.
std::string Enclosing(Dwarf_Die declared) {
  Dwarf_Die* found = nullptr;
  const int count = dwarf_getscopes_die(&declared, &found);
  const Scopes scopes(found, &std::free);
  std::string prefix;
  for (int i = 1; i < count; ++i) {
    const int tag = dwarf_tag(found + i);
    const bool type = tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
    const char* name = dwarf_diename(found + i);
    if (tag != DW_TAG_namespace && !(type && name)) continue;  // a lambda's type has no name
    prefix.insert(0, std::string(name != nullptr ? name : "(anonymous namespace)") + "::");
  }
  return prefix;
}

// The name in a function's or inlined function's entry; file-local functions have no linkage name, and the entries of
// some lambdas cannot be read.
std::string FunctionName(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (!dwarf_attr_integrate(die, name, &attribute)) continue;
    std::string readable = ReadableName(dwarf_formstring(&attribute));
    if (!readable.empty() && !readable.starts_with("_Z")) return readable;
  }
  const char* plain = dwarf_diename(die);
  return plain != nullptr ? Enclosing(Declared(*die)) + plain : "";
}

std::int64_t Number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0) return 0;
  return static_cast<std::int64_t>(value);
}

bool IsFunction(Dwarf_Die* die) {
  const int tag = dwarf_tag(die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

// One file, opened at its own addresses.
class Module {
 public:
  explicit Module(const std::string& path) {
    static char* no_debug_path = nullptr;
    static const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                              .find_debuginfo = dwfl_standard_find_debuginfo,
                                              .section_address = dwfl_offline_section_address,
                                              .debuginfo_path = &no_debug_path};
    // The capture may name anything; a pipe would never end.
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return;
    session_ = dwfl_begin(&kCallbacks);
    if (session_ == nullptr) return;
    dwfl_report_begin(session_);
    module_ = dwfl_report_elf(session_, path.c_str(), path.c_str(), -1, 0, true);
    dwfl_report_end(session_, nullptr, nullptr);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    if (session_) dwfl_end(session_);
  }

  bool ok() const { return module_ != nullptr; }

  // The file's own address of what is at `offset` in it; 0 when no loaded segment contains it.
  std::uint64_t AddressOf(std::uint64_t offset) const {
    GElf_Addr bias = 0;
    Elf* elf = dwfl_module_getelf(module_, &bias);
    std::size_t count = 0;
    if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return 0;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (!gelf_getphdr(elf, static_cast<int>(i), &header) || header.p_type != PT_LOAD) continue;
      if (offset >= header.p_offset && offset - header.p_offset < header.p_filesz) {
        return offset - header.p_offset + header.p_vaddr + bias;
      }
    }
    return 0;
  }

  struct Place {
    std::vector<Where> frames;  // the user's
    bool has_line = false;      // anybody's
  };

  Place PlaceAt(std::uint64_t address, const std::string& path) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias);
    if (unit == nullptr) unit = UnitByRanges(address, bias);
    Dwarf_Line* line = unit != nullptr ? dwarf_getsrc_die(unit, address - bias) : nullptr;
    if (line == nullptr) return {FromSymbols(address, path), false};
    return {FromLines(unit, line, address - bias, bias), true};
  }

 private:
  std::vector<Where> FromSymbols(std::uint64_t address, const std::string& path) const {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* mangled = dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
    const std::string name = ReadableName(mangled);
    if (!IsUserFunction(name)) return {};
    char text[24];
    std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(offset));
    return {{path, 0, name + text}};
  }

  static void Add(const char* path, Dwarf_Die* unit, int line, std::string function, std::vector<Where>& frames) {
    if (path == nullptr || !IsUserSource(path)) return;
    Dwarf_Attribute attribute;
    const char* folder = path[0] == '/' ? nullptr : dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    frames.push_back({folder ? std::string(folder) + "/" + path : path, line, std::move(function)});
  }

  // From the line at the address outwards: each inlined function names the place that calls it.
  std::vector<Where> FromLines(Dwarf_Die* unit, Dwarf_Line* line, Dwarf_Addr address, Dwarf_Addr bias) const {
    std::vector<Where> frames;
    int number = 0;
    dwarf_lineno(line, &number);
    const char* path = dwarf_linesrc(line, nullptr, nullptr);
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    dwarf_getsrcfiles(unit, &files, &file_count);
    const auto [scopes, count] = ScopesAt(unit, address);
    // With few details (clang's -g1) the classes around a function, or the function itself, are only in its symbol. A
    // function with internal linkage keeps its own name.
    std::string symbol = ReadableName(dwfl_module_addrname(module_, address + bias));
    if (symbol.find("(anonymous namespace)") != symbol.npos || symbol.starts_with("_GLOBAL_")) symbol.clear();
    for (int i = 0; i < count && path; ++i) {
      Dwarf_Die* scope = scopes.get() + i;
      if (!IsFunction(scope)) continue;
      std::string name = FunctionName(scope);
      if (dwarf_tag(scope) != DW_TAG_inlined_subroutine) {
        if (symbol.ends_with("::" + name)) name = symbol;
        Add(path, unit, number, std::move(name), frames);
        return frames;
      }
      Add(path, unit, number, std::move(name), frames);
      number = static_cast<int>(Number(scope, DW_AT_call_line));
      const auto file = static_cast<std::size_t>(Number(scope, DW_AT_call_file));
      path = file < file_count ? dwarf_filesrc(files, file, nullptr, nullptr) : nullptr;
    }
    if (frames.empty()) Add(path, unit, number, IsUserFunction(symbol) ? std::move(symbol) : "", frames);
    return frames;
  }

  // Innermost first, by where the code really is: an inlined function's scopes lead to its caller.
  static std::pair<Scopes, int> ScopesAt(Dwarf_Die* unit, Dwarf_Addr address) {
    Dwarf_Die* found = nullptr;
    const int depth = dwarf_getscopes(unit, address, &found);
    const Scopes innermost(found, &std::free);
    if (depth <= 0) return {Scopes(nullptr, &std::free), 0};
    Dwarf_Die* nest = nullptr;
    const int count = dwarf_getscopes_die(found, &nest);
    return {Scopes(nest, &std::free), std::max(count, 0)};
  }

  // clang writes no .debug_aranges, the only table of units by address that elfutils reads: use the units' own
  // ranges.
  Dwarf_Die* UnitByRanges(std::uint64_t address, Dwarf_Addr& bias) {
    if (!units_) {
      units_.emplace();
      for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr;) {
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;) {
          (*units_)[begin + bias] = {end + bias, unit, bias};
        }
      }
    }
    const auto after = units_->upper_bound(address);
    if (after == units_->begin() || address >= std::prev(after)->second.end) return nullptr;
    bias = std::prev(after)->second.bias;
    return std::prev(after)->second.unit;
  }

  struct UnitRange {
    Dwarf_Addr end;
    Dwarf_Die* unit;
    Dwarf_Addr bias;
  };
  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  std::optional<std::map<Dwarf_Addr, UnitRange>> units_;  // by where they begin
};

}  // namespace

Symbolized Symbolize(std::span<const ModuleMapping> modules, std::span<const std::uint64_t> return_addresses) {
  Symbolized result;
  result.frames.resize(return_addresses.size());
  std::map<std::uint64_t, const ModuleMapping*> by_begin;
  for (const ModuleMapping& module : modules) by_begin.try_emplace(module.begin, &module);
  std::map<std::string, std::unique_ptr<Module>> open;
  std::map<std::string, bool> has_lines;
  for (std::size_t i = 0; i < return_addresses.size(); ++i) {
    const std::uint64_t address = return_addresses[i] - 1;
    auto after = by_begin.upper_bound(address);
    if (after == by_begin.begin()) continue;
    const ModuleMapping& mapping = *std::prev(after)->second;
    if (address >= mapping.end || !IsUserModule(mapping.path)) continue;
    std::unique_ptr<Module>& module = open[mapping.path];
    if (!module) {
      module = std::make_unique<Module>(mapping.path);
      if (!module->ok()) {
        result.warnings.push_back(mapping.path + " cannot be read any more: no places in it can be named");
      }
    }
    if (!module->ok()) continue;
    const std::uint64_t own = module->AddressOf(address - mapping.begin + mapping.file_offset);
    if (own == 0) continue;
    Module::Place place = module->PlaceAt(own, mapping.path);
    result.frames[i] = std::move(place.frames);
    has_lines[mapping.path] |= place.has_line;
  }
  for (const auto& [path, any] : has_lines) {
    if (!any) result.without_lines.push_back(path);
  }
  return result;
}

}  // namespace loopscope
