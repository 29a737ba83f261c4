"""Optimizers, backward passes, modules."""

SCRIPTS = {
    "optimizer_vars": """
epochs()
print(sorted(vars(optimizer)), sorted(optimizer.__getstate__()))
""",
    "optimizer_raises": """
import weakref
def closure(): raise ValueError("closure")
mine = torch.optim.LBFGS(model.parameters())
gone = weakref.ref(mine)
try: mine.step(closure)
except ValueError: pass
del mine
gc.collect()
print(gone())
""",
    "optimizer_step_raises": """
import weakref
class Fails(torch.optim.SGD):
    def step(self): raise ValueError("step")
mine = Fails(model.parameters(), lr=0.1)
gone = weakref.ref(mine)
try: mine.step()
except ValueError: pass
del mine
gc.collect()
print(gone())
""",
    "optimizer_closure_stack": """
import traceback
def closure():
    print("".join(traceback.format_stack()))
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4)).sum()
    loss.backward()
    return loss
torch.optim.SGD(model.parameters(), lr=0.1).step(closure)
""",
    "optimizer_constructor_fails": "torch.optim.SGD([], lr=0.1)",
    "optimizer_constructor_warns": """
warnings.simplefilter("always")
class Mine(torch.optim.Optimizer):
    def __init__(self, parameters): super().__init__(parameters, {})
    def add_param_group(self, group):
        warnings.warn("group", stacklevel=3)
        super().add_param_group(group)
Mine(model.parameters())
""",
    "optimizer_own": """
class Mine(torch.optim.Optimizer):
    def __init__(self, parameters): super().__init__(parameters, {"lr": 0.1})
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for one in group["params"]: one -= group["lr"] * one.grad
optimizer = Mine(model.parameters())
print(epochs())
""",
    "optimizer_scheduler": """
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for _ in range(3):
    epochs(1)
    scheduler.step()
print(scheduler.get_last_lr())
""",
    "optimizer_scheduler_first": """
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scheduler.step()
""",
    "optimizer_lbfgs": """
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
x, y = next(iter(loader))
def closure():
    optimizer.zero_grad()
    loss = (model(x).squeeze(1) - y).square().mean()
    loss.backward()
    return loss
for _ in range(3): print(float(optimizer.step(closure)))
""",
    "optimizer_hooks": """
optimizer.register_step_pre_hook(lambda *given: print("before", len(given)))
optimizer.register_step_post_hook(lambda *given: print("after", len(given)))
epochs(1)
""",
    "optimizer_copied": """
import copy
epochs(1)
other = copy.deepcopy(optimizer)
print(sorted(vars(other)), len(other.state))
""",
    "optimizer_let_go": """
import weakref
gone = weakref.ref(optimizer)
epochs(1)
del optimizer
step = epochs = None
gc.collect()
print(gone())
""",
    "zero_grad_stack": """
import traceback
class Net(nn.Linear):
    def parameters(self, recurse=True):
        if model is self: print("".join(traceback.format_stack()))
        return super().parameters(recurse)
model = Net(4, 1)
model.zero_grad()
model.zero_grad(set_to_none=False)
""",
    "zero_grad_wrong": "optimizer.zero_grad(nothing=True)",
    "backward_stack": """
import traceback
weight = torch.ones(2, requires_grad=True)
weight.register_hook(lambda gradient: print("".join(traceback.format_stack())))
weight.sum().backward()
""",
    "backward_twice": """
loss = model(torch.ones(2, 4)).square().sum()
loss.backward()
loss.backward()
""",
    "backward_of_iterator": """
losses = [model(torch.ones(2, 4)).sum() for _ in range(2)]
torch.autograd.backward(iter(losses))
print(model[0].weight.grad.sum())
""",
    "gradients_taken": """
x = torch.ones(2, 4, requires_grad=True)
gradient, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
(gradient.square().sum()).backward()
print(gradient)
""",
    "gradcheck": """
print(torch.autograd.gradcheck(torch.sin, torch.ones(2, dtype=torch.double, requires_grad=True)))
""",
    "anomaly": """
with torch.autograd.detect_anomaly():
    x = torch.zeros(2, requires_grad=True)
    (x / x).sum().backward()
""",
    "profiler": """
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    epochs(1)
print(sorted({one.key for one in profile.key_averages()}))
""",
    "module_call": """
import pickle, copy, weakref
call = nn.Module.__call__
call.mark = 1
print(call.mark, nn.Module.__call__.mark, weakref.ref(call)() is call, copy.copy(call) is call)
print(pickle.dumps(call), pickle.loads(pickle.dumps(call)) is call, pickle.loads(pickle.dumps(model.__call__))(torch.ones(1, 4)))
""",
    "module_overrides_call": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 1)
    def forward(self, x): return self.inner(x)
    def __call__(self, *given, **named):
        print("called")
        return super().__call__(*given, **named)
model = Net()
epochs(1)
""",
    "module_forward_stack": """
import traceback
class Net(nn.Linear):
    def forward(self, x):
        print("".join(traceback.format_stack()))
        return super().forward(x)
Net(4, 1)(torch.ones(2, 4))
""",
    "module_wrong_shape": "model(torch.ones(2, 5))",
    "module_hooks": """
model.register_forward_hook(lambda module, given, result: print(type(module).__name__, len(given)))
epochs(1)
""",
    "module_deep": """
import sys
class Deep(nn.Module):
    def forward(self, x, depth): return self(x, depth - 1) if depth else x
print(Deep()(torch.ones(1), 60))
try: Deep()(torch.ones(1), 100000)
except RecursionError as error: print("deep")
""",
    "checkpointed": """
from torch.utils.checkpoint import checkpoint
x = torch.ones(2, 4, requires_grad=True)
checkpoint(model, x, use_reentrant=False).sum().backward()
print(x.grad)
""",
    "averaged": """
swa = torch.optim.swa_utils.AveragedModel(model)
for _ in range(3):
    epochs(1)
    swa.update_parameters(model)
print(swa.n_averaged)
""",
    "trains_in_thread": """
import threading
thread = threading.Thread(target=lambda: print(epochs()))
thread.start()
thread.join()
""",
    "data_parallel": """
import torch.distributed as dist, tempfile
dist.init_process_group("gloo", init_method="file://" + tempfile.mktemp(), rank=0, world_size=1)
model = nn.parallel.DistributedDataParallel(model)
print(epochs())
dist.destroy_process_group()
""",
}
