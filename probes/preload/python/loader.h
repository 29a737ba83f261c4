// A DataLoader's iterator: the calls of every batch, as builtins. The shim (probes/python/loader.py) handles a pass's
// first batches, and hands over the pass that is trained on.
#pragma once

#include <sys/types.h>

namespace loopscope {

// The entry points (PyMethodDef) of builtins without a self.

// around_next(original, gave, ran_out) and around_next_index(original, keep): methods that replace an iterator's
// __next__ and _next_index. Where its pass was not handed over, gave(iterator, begin_ns, batch) is called after each
// batch, and keep(iterator, index) after each index. ran_out(iterator, begin_ns) is called at the end of every pass.
void* AroundNext(void*, void* const* arguments, ssize_t count) noexcept;
void* AroundNextIndex(void*, void* const* arguments, ssize_t count) noexcept;

// pass_goes_on(iterator, given, loader, name, append, popleft, of_batch, of_pass): hands a pass over in place of the
// one before. `given` is the address of its count of batches, which must stay until pass_stops(). `append` and
// `popleft` keep and give the indices of batches that were asked for; or they are None, and the sizes of a batch and of
// the whole pass give the samples in each batch. pass_stops() takes the pass back.
void* PassGoesOn(void*, void* const* arguments, ssize_t count) noexcept;
void* PassStops(void*, void* const* arguments, ssize_t count) noexcept;

}  // namespace loopscope
