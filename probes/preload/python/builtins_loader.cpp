#include <algorithm>
#include <cstdint>
#include <utility>

#include "probes/capture/writer.h"
#include "probes/preload/python/builtins.h"
#include "probes/preload/python/method.h"
#include "probes/preload/python/object.h"
#include "probes/preload/python/script.h"

namespace loopscope {
namespace {

enum NextItem : ssize_t { kNextOriginal, kGave, kRanOut, kNextItems };
enum IndexItem : ssize_t { kIndexOriginal, kKeep, kIndexItems };
enum Argument : ssize_t { kIterator, kGiven, kLoader, kName, kAppend, kPopLeft, kOfBatch, kOfPass, kArguments };

// The pass that was handed over; under the interpreter's lock.
struct Pass {
  void* iterator = nullptr;  // not kept alive: pass_stops() is called when one goes
  std::uint64_t* given = nullptr;
  std::uint64_t loader = 0;
  void *name = nullptr, *append = nullptr, *popleft = nullptr;  // kept
  std::uint64_t of_batch = 0, of_pass = 0;                      // samples; 0: ask each index
  const char* text = nullptr;                                   // of the name
};
Pass pass;

void Stop() noexcept {
  const Pass old = std::exchange(pass, {});
  for (void* const one : {old.name, old.append, old.popleft}) {
    if (one != nullptr) python.give(one);
  }
}

// The samples in a batch, from its index: 1 where that is not a list.
std::size_t Samples(void* index) noexcept {
  const bool several =
      python.is_instance(index, python.list_type) == 1 || python.is_instance(index, python.tuple_type) == 1;
  const ssize_t size = several ? python.size(index) : 1;
  python.clear_error();
  return size < 0 ? 0 : static_cast<std::size_t>(size);
}

// The samples in the batch being given now.
std::size_t NextSamples() noexcept {
  if (pass.of_batch != 0) {
    const std::uint64_t given = *pass.given * pass.of_batch;
    return given < pass.of_pass ? std::min(pass.of_batch, pass.of_pass - given) : pass.of_batch;
  }
  void* const index = python.call(pass.popleft, nullptr, 0, nullptr);
  if (index == nullptr) {
    python.clear_error();
    return 1;
  }
  const std::size_t samples = Samples(index);
  python.give(index);
  return samples;
}

// gave(iterator, begin_ns, batch), or ran_out(iterator, begin_ns) where there is no batch. Returns false with an
// exception set where that failed.
bool Report(void* self, ssize_t item, void* iterator, std::uint64_t begin_ns, void* batch) noexcept {
  void* const arguments[] = {iterator, python.new_number(begin_ns), batch};
  void* const answer = CallItem(self, item, arguments, batch == nullptr ? 2 : 3);
  python.give(arguments[1]);
  if (answer != nullptr) python.give(answer);
  return answer != nullptr;
}

thread_local void* asked = nullptr;  // the iterator whose __next__ runs

void* Next(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  // Called by a derived class's __next__, whose result is the batch.
  if (count != 1 || arguments[0] == asked) return CallItem(self, kNextOriginal, arguments, count, names);
  void* const iterator = arguments[0];
  const std::uint64_t begin_ns = capture::NowNs();
  void* const outer = std::exchange(asked, iterator);
  void* const batch = CallItem(self, kNextOriginal, arguments, count);
  asked = outer;
  if (batch == nullptr) {
    if (python.error() == nullptr || python.error_is(*python.stop_iteration) == 0) return nullptr;
    const ErrorAside error;
    Report(self, kRanOut, iterator, begin_ns, nullptr);
    return nullptr;
  }
  if (iterator != pass.iterator) {  // not handed over, or another loader was asked meanwhile
    if (Report(self, kGave, iterator, begin_ns, batch)) return batch;
    python.give(batch);
    return nullptr;
  }
  loopscope_script_loader_gave(pass.loader, begin_ns, pass.text, nullptr, NextSamples());
  ++*pass.given;
  return batch;
}

thread_local void* drawing = nullptr;  // the iterator whose _next_index runs

void* NextIndex(void* self, PythonArguments arguments, ssize_t count, void* names) noexcept {
  const bool inner = count != 1 || arguments[0] == drawing;
  void* const outer = inner ? drawing : std::exchange(drawing, arguments[0]);
  void* const index = CallItem(self, kIndexOriginal, arguments, count, names);
  drawing = outer;
  if (index == nullptr || inner) return index;
  void* const iterator = arguments[0];
  const bool handed_over = iterator == pass.iterator;
  if (handed_over && pass.of_batch != 0) return index;
  void* const both[] = {iterator, index};
  void* const kept = handed_over ? python.call(pass.append, &index, 1, nullptr) : CallItem(self, kKeep, both, 2);
  if (kept == nullptr) {
    python.give(index);
    return nullptr;
  }
  python.give(kept);
  return index;
}

}  // namespace

void* AroundNext(void*, PythonArguments arguments, ssize_t count) noexcept {
  if (count != kNextItems) return WrongArguments();
  return NewMethod<Next>(arguments[kNextOriginal], arguments[kGave], arguments[kRanOut]);
}

void* AroundNextIndex(void*, PythonArguments arguments, ssize_t count) noexcept {
  if (count != kIndexItems) return WrongArguments();
  return NewMethod<NextIndex>(arguments[kIndexOriginal], arguments[kKeep]);
}

void* PassGoesOn(void*, PythonArguments a, ssize_t count) noexcept {
  if (count != kArguments) return WrongArguments();
  for (void* const one : {a[kName], a[kAppend], a[kPopLeft]}) python.take(one);
  Stop();
  pass = {a[kIterator],
          reinterpret_cast<std::uint64_t*>(python.number(a[kGiven])),
          python.number(a[kLoader]),
          a[kName],
          a[kAppend],
          a[kPopLeft],
          python.number(a[kOfBatch]),
          python.number(a[kOfPass]),
          python.bytes(a[kName])};
  return NewNone();
}

void* PassStops(void*, PythonArguments, ssize_t) noexcept {
  Stop();
  return NewNone();
}

}  // namespace loopscope
