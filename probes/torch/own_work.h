// Operators that the probe runs for itself run bare kernels, whatever the program has enabled for its thread: autograd,
// autocast, dispatch modes.
#pragma once

#include <c10/core/DispatchKeySet.h>

namespace loopscope {

// To be excluded while they run.
inline c10::DispatchKeySet WhatThreadsSwitchOn() {
  using c10::DispatchKey;
  return c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset |
         c10::DispatchKeySet({DispatchKey::Python, DispatchKey::PythonTLSSnapshot, DispatchKey::PythonDispatcher,
                              DispatchKey::Functionalize, DispatchKey::FuncTorchBatched,
                              DispatchKey::FuncTorchDynamicLayerFrontMode, DispatchKey::FuncTorchDynamicLayerBackMode});
}

}  // namespace loopscope
