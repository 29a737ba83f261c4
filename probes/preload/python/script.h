// The loop of an interpreted program: C functions for a shim inside the interpreter (probes/python), and the source of
// their records' call stacks. All but loopscope_script_start do nothing while no capture is open in this
// process.
#pragma once

#include <cstdint>

extern "C" {

// Opens the capture of this process. Returns null, or why there is none.
const char* loopscope_script_start();
// Loads a LibTorch probe into the process's torch: the one at `path`, or the one beside this library where that is
// null. Returns null, or why it is off; the capture says so too.
const char* loopscope_script_load_torch(const char* path);
// The program's start folder, and the temporary folder (python/code.h).
void loopscope_script_code_folders(const char* start, const char* temporary);
// Code below these folders, one per line, is not the user's: call stacks omit it.
void loopscope_script_foreign_code(const char* folders);
// `finish` is called on the training thread before a bounded run ends.
void loopscope_script_set_finish(void (*finish)());
// The interpreter is about to end: nothing follows its calls from here on.
void loopscope_script_interpreter_ends();
// The program is about to end with `status` in a way that runs no exit handler (a signal that it sends to itself).
void loopscope_script_program_ends(int status);

// A pass over the data began; the loader gave a batch of `samples` samples with these `indices` (may be null) or ran
// out. `name` says what the call was; begin_ns is when the loop asked, the call returns now.
void loopscope_script_loader_started(std::uint64_t loader, std::uint64_t begin_ns, const char* name);
void loopscope_script_loader_gave(std::uint64_t loader, std::uint64_t begin_ns, const char* name,
                                  const std::size_t* indices, std::size_t samples);
void loopscope_script_loader_ran_out(std::uint64_t loader, std::uint64_t begin_ns, const char* name);

void loopscope_script_backward_begins();
void loopscope_script_backward_ends(std::uint64_t begin_ns, int threw);
void loopscope_script_gradient_taken();  // outside of a backward pass; only where there was none, and no optimizer
// Parameters of an optimizer have changed since the last backward pass, by a step that no hook saw.
void loopscope_script_updated_out_of_sight();
void loopscope_script_zero_grad_begins();
void loopscope_script_zero_grad_ends(std::uint64_t begin_ns, int set_to_none);
void loopscope_script_optimizer_made();
void loopscope_script_optimizer_begins();
void loopscope_script_optimizer_ends(std::uint64_t optimizer, const char* name, std::uint64_t parameters,
                                     std::uint64_t begin_ns, int threw);

// The address of the GateBit word (probe_api.h): what is recorded now; valid for the process's lifetime.
const std::uint32_t* loopscope_script_gate();

// The program wrote text since begin_ns.
void loopscope_script_output(const char* name, std::uint64_t begin_ns);
// A finished range, without a call stack: it spans much code, and one line would get all the blame.
void loopscope_script_range(int category, const char* name, std::uint64_t begin_ns, std::uint64_t end_ns,
                            std::uint64_t value);                             // wire.h, RangeCategory
void loopscope_script_mark(int kind, const char* name, std::uint64_t value);  // wire.h, MarkKind
void loopscope_script_loss(double value);
void loopscope_script_claim(const char* key);
// `client` is about to register with CUPTI (devices.h, LeaveCuptiTo).
void loopscope_script_leave_cupti_to(const char* client);
// In a forked child, before it goes on.
void loopscope_script_forked();
// For live pairs (live.h): `notify` is called for every treatment at every switch, on the training thread, and returns
// whether it changed anything since the last switch.
void loopscope_script_set_switch(int (*notify)(const char* key, int on));
void loopscope_script_fact(const char* key, const char* value);
void loopscope_script_applied(const char* key, const char* where, const char* old_value, const char* now,
                              std::uint32_t flags);  // wire.h, AppliedFlag

}  // extern "C"
