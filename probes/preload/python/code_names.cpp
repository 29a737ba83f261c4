#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "probes/capture/strings.h"
#include "probes/preload/python/code.h"

namespace loopscope {
namespace {

struct Python {
  void* (*builtin)(void*);              // PyCFunction_GetFunction
  void* (*self)(void*);                 // PyCFunction_GetSelf, borrowed
  void* (*members)(void*);              // PyModule_GetDict, borrowed
  void* (*member)(void*, const char*);  // PyDict_GetItemString, borrowed
  void* (*modules)();                   // PyImport_GetModuleDict, borrowed
  void* (*type)(void*);                 // PyObject_Type, new
} python{};

template <class Function>
bool Find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

constexpr std::string_view kShim = "_loopscope";  // the package of the shim

// Wrappers of torch and the standard library, with the name that programs use; an empty name: look inside.
struct Wrapper {
  std::string_view file, function, name;
};
constexpr std::string_view kModuleCall = "torch.nn.Module.__call__";
constexpr std::array kWrappers = {
    Wrapper{"/torch/optim/optimizer.py", "wrapper", "torch.optim.Optimizer.step"},
    Wrapper{"/torch/optim/optimizer.py", "_use_grad", "torch.optim.Optimizer.step"},
    Wrapper{"/torch/nn/modules/module.py", "_wrapped_call_impl", kModuleCall},
    Wrapper{"/torch/nn/modules/module.py", "_call_impl", kModuleCall},
    Wrapper{"/torch/utils/data/dataloader.py", "__next__", "DataLoader.__next__"},
    Wrapper{"/torch/utils/data/dataloader.py", "_next_data", "DataLoader.__next__"},
    Wrapper{"/torch/utils/data/dataloader.py", "__iter__", "DataLoader.__iter__"},
    Wrapper{"/torch/_tensor.py", "backward", "torch.Tensor.backward"},
    Wrapper{"/torch/_compile.py", "inner", ""},
    Wrapper{"/torch/nn/utils/clip_grad.py", "_no_grad_wrapper", ""},
    Wrapper{"/torch/utils/_contextlib.py", "decorate_context", ""},
    Wrapper{"/contextlib.py", "inner", ""},
    Wrapper{"/functools.py", "wrapper", ""},
};

const Wrapper* WrapperOf(const Code& code) {
  const auto found = std::ranges::find_if(kWrappers, [&](const Wrapper& one) {
    const std::string_view path(code.path);
    const std::string_view function = std::string_view(code.function).substr(code.function.rfind('.') + 1);
    return function == one.function && path.ends_with(one.file);
  });
  return found == kWrappers.end() ? nullptr : &*found;
}

bool HasMember(const std::string& module, const std::string& name) {
  void* const loaded = python.member(python.modules(), module.c_str());
  void* const members = loaded != nullptr ? python.members(loaded) : nullptr;
  if (members == nullptr) python_frames.clear_error();
  return members != nullptr && python.member(members, name.c_str()) != nullptr;
}

// "numpy.lib._histograms_impl" and "histogram" → "numpy.histogram", if that name exists.
std::string Public(const std::string& module, const std::string& name) {
  const std::string first = name.substr(0, name.find('.'));
  for (std::size_t dot = module.find('.'); dot != module.npos; dot = module.find('.', dot + 1)) {
    const std::string outer = module.substr(0, dot);
    if (HasMember(outer, first)) return outer + "." + name;
  }
  return module.empty() || module == "builtins" || module == "__main__" || module == "?" ? name : module + "." + name;
}

std::string WithoutPrivateOwner(std::string name) {
  for (const std::string_view owner : {"_VariableFunctionsClass.", "_TensorBase.", "TensorBase."}) {
    if (!name.starts_with(owner)) continue;
    name = (owner.starts_with("_V") ? "torch." : "torch.Tensor.") + name.substr(owner.size());
  }
  return name;
}

// "Adam.step", from Python 3.11 on; before, "step".
std::string QualifiedName(void* frame, const Code& code) {
  void* const object = python_frames.code(frame);
  std::string name = AttributeText(object, "co_qualname");
  python_frames.give(object);
  return name == "?" ? code.function : name;
}

// Functions of libraries: "Compose.__call__" of torchvision, albumentations and MONAI.
Container ContainerOf(std::string_view function, const Code& code) {
  constexpr std::array<std::string_view, 5> kTransforms = {"Compose", "RandomApply", "RandomOrder", "RandomChoice",
                                                           "OneOf"};
  const std::size_t dot = function.find('.');
  if (code.owner == Owner::kUser || dot == function.npos) return Container::kNone;
  const std::string_view type = function.substr(0, dot), method = function.substr(dot + 1);
  if (method != "__call__" && method != "forward") return Container::kNone;
  if (type == "Sequential") return Container::kModules;
  return std::ranges::find(kTransforms, type) != kTransforms.end() ? Container::kTransforms : Container::kNone;
}

std::string FrameName(void* frame, const Code& code) {
  if (const Wrapper* wrapper = WrapperOf(code)) return std::string(wrapper->name);
  if (code.function.starts_with('<')) return "";  // <module>, <lambda>, <listcomp>: without a name
  void* const globals = python_frames.attribute(frame, "f_globals");
  void* const text = globals != nullptr ? python.member(globals, "__name__") : nullptr;
  ssize_t length = 0;
  const char* module = text != nullptr ? python_frames.text(text, &length) : nullptr;
  const bool own = module != nullptr && std::string_view(module).starts_with(kShim);
  if (own) {
    python_frames.give(globals);
    return "";
  }
  const std::string function = QualifiedName(frame, code);
  if (function.find("<locals>") != function.npos && code.owner != Owner::kUser) {
    python_frames.give(globals);
    return "";  // a decorator's wrapper
  }
  const std::string name = module != nullptr ? Public({module, static_cast<std::size_t>(length)}, function) : function;
  if (globals != nullptr) python_frames.give(globals);
  if (module == nullptr) python_frames.clear_error();
  return name;
}

std::string BuiltinName(void* function) {
  const std::string name = WithoutPrivateOwner(AttributeText(function, "__qualname__"));
  if (name.find('.') != name.npos || name == "?") return name == "?" ? "" : name;
  return Public(AttributeText(function, "__module__"), name);
}

// By the C function's address. Bindings that share one function for all distinguish them by `self`.
struct Builtins {
  std::unordered_map<void*, std::uint32_t> names;
  std::unordered_map<void*, bool> shared;
};

Builtins& Known() {
  static auto* known = new Builtins;
  return *known;
}

bool IsShared(void* address, void* function) {
  const auto [found, is_new] = Known().shared.try_emplace(address, false);
  void* const self = is_new ? python.self(function) : nullptr;
  if (self != nullptr) {
    void* const type = python.type(self);
    const std::string name = AttributeText(type, "__name__");
    found->second = name == "PyCapsule" || name.find("function_record") != name.npos;
    python_frames.give(type);
  }
  if (python_frames.error() != nullptr) python_frames.clear_error();
  return found->second;
}

bool FindAll() noexcept {
  return Find(python.builtin, "PyCFunction_GetFunction") && Find(python.self, "PyCFunction_GetSelf") &&
         Find(python.members, "PyModule_GetDict") && Find(python.member, "PyDict_GetItemString") &&
         Find(python.modules, "PyImport_GetModuleDict") && Find(python.type, "PyObject_Type");
}

}  // namespace

bool FindCallNames() noexcept {
  static const bool found = FindPythonFrames() && FindAll();
  return found;
}

std::uint32_t NameOfFrame(void* frame, Code& code) noexcept {
  if (code.call_named) return code.call_name;
  try {
    const Wrapper* const wrapper = WrapperOf(code);
    code.module_call = wrapper != nullptr && wrapper->name == kModuleCall;
    code.container = wrapper == nullptr ? ContainerOf(QualifiedName(frame, code), code) : Container::kNone;
    code.call_name = code.container == Container::kNone ? capture::StringId(FrameName(frame, code)) : 0;
    code.call_named = true;
  } catch (...) {
  }
  return code.call_name;
}

std::uint32_t NameOfBuiltin(void* function) noexcept {
  void* const address = python.builtin(function);
  if (address == nullptr) {  // not a builtin after all
    python_frames.clear_error();
    return 0;
  }
  try {
    void* const key = IsShared(address, function) ? python.self(function) : address;
    const auto [found, is_new] = Known().names.try_emplace(key, 0);
    if (is_new) found->second = capture::StringId(BuiltinName(function));
    return found->second;
  } catch (...) {
    return 0;
  }
}

}  // namespace loopscope
