"""Signals, and exceptions that come from outside of the line that runs."""

_RAISE = """
import signal, time
class Late(Exception): pass
got = []
def late(number, frame): raise Late(number)
"""

SCRIPTS = {
    "alarms_raise": _RAISE
    + """
signal.signal(signal.SIGALRM, late)
for trial in range(60):
    torch.set_grad_enabled(True)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0007 + trial % 13 * 0.0003)
        until = time.monotonic() + 1
        while time.monotonic() < until: epochs(1)
    except Late as error:
        got.append(error.args)
    except RuntimeError:  # the handler's exception came while torch had switched something
        got.append((14,))
print(len(got), set(got))
os._exit(0) if not sys.stdout.flush() else 0
""",
    "interrupts_while_epochs_end": """
import signal, time
got = 0
short = DataLoader(Rows(2), batch_size=2)
signal.signal(signal.SIGALRM, signal.default_int_handler)
for trial in range(60):
    torch.set_grad_enabled(True)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0007 + trial % 11 * 0.0003)
        until = time.monotonic() + 1
        while time.monotonic() < until: epochs(1, short)
    except (KeyboardInterrupt, RuntimeError):
        got += 1
print(got)
sys.stdout.flush(); os._exit(0)
""",
    "exceptions_of_another_thread": """
import ctypes, threading, time
class Stop(Exception): pass
me, got = threading.get_ident(), 0
def send():
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(me), ctypes.py_object(Stop))
for trial in range(40):
    torch.set_grad_enabled(True)
    try:
        threading.Timer(0.0007 + trial % 11 * 0.0003, send).start()
        until = time.monotonic() + 1
        while time.monotonic() < until: epochs(1)
    except (Stop, RuntimeError):
        got += 1
print(got)
sys.stdout.flush(); os._exit(0)
""",
    "weak_references_and_alarms": _RAISE
    + """
signal.signal(signal.SIGALRM, late)
for trial in range(40):
    torch.set_grad_enabled(True)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0007 + trial % 13 * 0.0003)
        until = time.monotonic() + 1
        while time.monotonic() < until:
            other = nn.Linear(4, 1)
            own = torch.optim.SGD(other.parameters(), lr=0.1)
            for x, y in DataLoader(Rows(4), batch_size=4): other(x).sum().backward(); own.step()
            del other, own
    except (Late, RuntimeError):
        got.append(1)
print(len(got))
sys.stdout.flush(); os._exit(0)
""",
    "user_signals": """
import signal
seen = []
for one in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG, signal.SIGWINCH, signal.SIGIO, signal.SIGRTMIN + 5, signal.SIGXCPU):
    signal.signal(one, lambda number, frame: seen.append(number))
    os.kill(os.getpid(), one)
epochs(1)
print(seen)
""",
    "default_of_a_user_signal": "import signal; epochs(1); os.kill(os.getpid(), signal.SIGUSR1)",
    "default_of_a_real_time_signal": "import signal; epochs(1); os.kill(os.getpid(), signal.SIGRTMIN + 2)",
    "default_of_quit": "import signal, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); epochs(1); os.kill(os.getpid(), signal.SIGQUIT)",
    "ignores_interrupts": """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)
epochs(1); os.kill(os.getpid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGTERM)
print(epochs(1))
""",
    "signal_mask": """
import signal
print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
epochs(1)
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigpending(), signal.sigwait([signal.SIGUSR1]))
""",
    "dispositions": """
import signal
print([(one.name, str(signal.getsignal(one))) for one in sorted(signal.valid_signals()) if hasattr(one, "name")])
epochs(1)
print([str(signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)])
""",
    "wakeup_descriptor": """
import signal
read_end, write_end = os.pipe()
os.set_blocking(write_end, False)
print(signal.set_wakeup_fd(write_end))
signal.signal(signal.SIGUSR1, lambda *_: None)
epochs(1)
os.kill(os.getpid(), signal.SIGUSR1)
print(os.read(read_end, 8) == bytes([signal.SIGUSR1]))
signal.set_wakeup_fd(-1)
""",
    "interval_timer": """
import signal
ticks = []
signal.signal(signal.SIGPROF, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
epochs(60)
signal.setitimer(signal.ITIMER_PROF, 0)
print(len(ticks) > 0)
""",
    "children_end": """
import signal, time
ended = []
signal.signal(signal.SIGCHLD, lambda *_: ended.append(os.waitpid(-1, os.WNOHANG)[0] > 0))
for _ in range(3):
    if os.fork() == 0: os._exit(0)
    epochs(1); time.sleep(0.05)
print(any(ended))
""",
    "asyncio_signal_handler": """
import asyncio, signal
async def main():
    loop, seen = asyncio.get_running_loop(), []
    loop.add_signal_handler(signal.SIGUSR1, seen.append, 1)
    await loop.run_in_executor(None, epochs, 1)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.sleep(0.05)
    print(seen)
asyncio.run(main())
""",
    "timeouts_of_threads": """
import threading
done = threading.Event()
worker = threading.Thread(target=lambda: (epochs(2), done.set()))
worker.start()
print(done.wait(60)); worker.join(); print(threading.active_count())
""",
    "exception_in_a_hook": """
def refuse(*_): raise ValueError("hook")
handle = optimizer.register_step_pre_hook(refuse)
try: epochs(1)
except ValueError as error: print(error)
handle.remove(); print(epochs(1))
""",
    "exception_in_the_loader": """
class Bad(Rows):
    def __getitem__(self, index):
        if index == 9: raise KeyError("nine")
        return super().__getitem__(index)
for workers in (0, 1):
    try:
        epochs(1, DataLoader(Bad(), batch_size=8, num_workers=workers))
    except KeyError as error:
        print(type(error).__name__, "nine" in str(error))
print(epochs(1))
""",
    "exception_in_a_sampler": """
class Sampler(torch.utils.data.Sampler):
    class Unsized(Exception): pass
    def __iter__(self): return iter(range(8))
    def __len__(self): raise self.Unsized("no length")
print(epochs(2, DataLoader(Rows(), batch_size=4, sampler=Sampler())))
""",
    "modules_that_hide_their_parts": """
class Odd(nn.Module):
    class Hidden(Exception): pass
    def __init__(self):
        super().__init__(); self.inner = nn.Linear(4, 1)
    def named_modules(self, *_, **__): raise self.Hidden("parts")
    def forward(self, x): return self.inner(x)
odd = Odd()
for _ in range(30): odd(torch.ones(2, 4)).sum().backward()
print(epochs(1))
del odd
""",
    "generator_closed_in_mid_epoch": """
def batches():
    for one in loader: yield one
for _ in range(4):
    for x, y in batches():
        step(x, y)
        break
print(epochs(1))
""",
    "gevent_like_patches": """
import threading, time
own = time.sleep
calls = []
time.sleep = lambda seconds: (calls.append(seconds), own(seconds))
done = threading.Event()
def spin():
    while not done.is_set(): sum(range(100))
thread = threading.Thread(target=spin); thread.start()
epochs(30)
done.set(); thread.join()
print(calls)
""",
    "hooks_of_the_interpreter": """
sys.excepthook = lambda kind, value, trace: print("mine", kind.__name__)
sys.unraisablehook = lambda given: print("unraisable", given.exc_type)
import threading
threading.excepthook = lambda given: print("thread", given.exc_type)
epochs(2)
raise RuntimeError
""",
    "global_step_hooks_cleared": """
from torch.optim import optimizer as module
epochs(1)
module._global_optimizer_pre_hooks.clear(); module._global_optimizer_post_hooks.clear()
print(epochs(2))
""",
}
