"""The preloaded library's functions for interpreters (probes/preload/python/script.h), by ctypes."""

import ctypes
import functools
import os
import time

now_ns = time.monotonic_ns  # CLOCK_MONOTONIC, the capture's clock

BACKWARD, OPTIMIZER, ZERO_GRAD, EVALUATION, FORWARD, MODULE = 2, 3, 4, 8, 9, 12  # wire.h, RangeCategory
EPOCH_END, EPOCH_START, PROBE_OFF, PROBE_ON = 4, 16, 10, 11  # wire.h, MarkKind
TORCH_PROBE = 1  # wire.h, ProbeId
NOT_APPLICABLE, LOST, FAILED = 1, 2, 4  # wire.h, AppliedFlag

_TEXT, _ID, _NS, _INT = ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int
_FUNCTIONS = {
    "start": (_TEXT, []),
    "load_torch": (_TEXT, [_TEXT]),
    "code_folders": (None, [_TEXT, _TEXT]),
    "foreign_code": (None, [_TEXT]),
    "interpreter_ends": (None, []),
    "program_ends": (None, [_INT]),
    "loader_started": (None, [_ID, _NS, _TEXT]),
    "loader_gave": (None, [_ID, _NS, _TEXT, ctypes.POINTER(ctypes.c_size_t), ctypes.c_size_t]),
    "loader_ran_out": (None, [_ID, _NS, _TEXT]),
    "backward_begins": (None, []),
    "backward_ends": (None, [_NS, _INT]),
    "gradient_taken": (None, []),
    "zero_grad_begins": (None, []),
    "zero_grad_ends": (None, [_NS, _INT]),
    "optimizer_made": (None, []),
    "updated_out_of_sight": (None, []),
    "optimizer_begins": (None, []),
    "optimizer_ends": (None, [_ID, _TEXT, ctypes.c_uint64, _NS, _INT]),
    "output": (None, [_TEXT, _NS]),
    "range": (None, [_INT, _TEXT, _NS, _NS, ctypes.c_uint64]),
    "mark": (None, [_INT, _TEXT, ctypes.c_uint64]),
    "loss": (None, [ctypes.c_double]),
    "forked": (None, []),
    "claim": (None, [_TEXT]),
    "leave_cupti_to": (None, [_TEXT]),
    "fact": (None, [_TEXT, _TEXT]),
    "applied": (None, [_TEXT, _TEXT, _TEXT, _TEXT, ctypes.c_uint32]),
}
_DETAIL = 2  # probe_api.h, GateBit
_FINISH = ctypes.PYFUNCTYPE(None)
_SWITCH = ctypes.PYFUNCTYPE(_INT, _TEXT, _INT)


class Missing(Exception):
    """The preloaded library is missing, or is of another version."""


class Probe:
    """One attribute per function; texts are bytes. Calls hold the interpreter's lock: none waits, except
    leave_cupti_to."""

    def __init__(self):
        library = self._library = _library()
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, "loopscope_script_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.loader_gave_indices = self.loader_gave
        self.loader_gave = lambda loader, begin_ns, name, samples: self.loader_gave_indices(
            loader, begin_ns, name, None, samples
        )
        # Only with builtins.
        self.around_backward = self.step_hooks = self.around_zero_grad = self.around_modules = self.around_next = None
        self.around = self.around_closure = self.around_output = None
        self.modules_changed = functools.partial(id, None)
        self.set_look = lambda look: None  # `look` is called before each step whose calls are followed
        self.backward_is_due = lambda: None
        for name, function in _builtins(library).items():
            setattr(self, name, function)
        library.loopscope_script_gate.restype = ctypes.POINTER(ctypes.c_uint32)
        self._gate = library.loopscope_script_gate().contents
        self.step_end = library.loopscope_v1_step_end  # (samples): a step that the shim itself marks
        self.step_end.restype, self.step_end.argtypes = None, [ctypes.c_uint64]
        self._set_finish = library.loopscope_script_set_finish
        self._set_finish.restype, self._set_finish.argtypes = None, [_FINISH]

    def set_switch(self, switch):
        """`switch(key, on)` is called for every treatment of live pairs at every switch (preload/live.h)."""
        self._switch = _SWITCH(switch)
        function = self._library.loopscope_script_set_switch
        function.restype, function.argtypes = None, [_SWITCH]
        function(self._switch)

    def in_detail(self):
        """Whether the detail window is open."""
        return self._gate.value & _DETAIL

    def set_finish(self, finish):
        """`finish` is called before a bounded run ends; None: no call."""
        self._finish = _FINISH(finish) if finish else _FINISH()
        self._set_finish(self._finish)


def _builtins(library):
    """Faster versions of the calls and wrappers of every step (probes/preload/python/builtins.h)."""
    library.loopscope_script_builtins.restype = ctypes.c_void_p  # with py_object, null would become an object
    address = library.loopscope_script_builtins()
    return ctypes.cast(address, ctypes.py_object).value if address else {}  # null: this Python lacks what they need


def _library():
    library = ctypes.PyDLL(None)
    if hasattr(library, "loopscope_script_start"):
        return library
    # LD_PRELOAD did not reach this process (a set-user-id program in between, a wrapper that clears it).
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "libloopscope_preload.so")
    try:
        library = ctypes.PyDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise Missing(str(error)) from None
    if not hasattr(library, "loopscope_script_start"):
        raise Missing(f"{path} is of another version")
    return library


def text(value):
    """A str as bytes for the functions."""
    return str(value).encode("utf-8", "replace")
