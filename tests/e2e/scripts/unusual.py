"""Uses loaders, modules and optimizers in ways that few scripts do, and prints what it saw: the same with probes and without."""

import copy
import functools
import gc
import inspect
import pickle
import queue
import threading

import torch
import torch.utils.data.dataloader as loaders
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Counting(nn.Module):
    """Has a __call__ of its own."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.calls = 0

    def __call__(self, *positional, **named):
        self.calls += 1
        return super().__call__(*positional, **named)

    def forward(self, x, scale=1.0):
        return self.linear(x) * scale


class Recursive(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, depth=3):
        return self(x, depth - 1) if depth else self.linear(x)


class Raising(nn.Module):
    def forward(self, x):
        raise KeyError("no such thing")


class OwnIterator(loaders._SingleProcessDataLoaderIter):
    def __next__(self):
        return super().__next__()


class OwnLoader(DataLoader):
    def _get_iterator(self):
        return OwnIterator(self)


class Endless(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.randn(4), 1


class OwnOptimizer(torch.optim.SGD):
    def zero_grad(self, set_to_none=False):
        super().zero_grad(set_to_none=set_to_none)


model = nn.Sequential(Counting(), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
data = TensorDataset(torch.randn(40, 4), torch.randint(0, 2, (40,)))


def train(inputs, labels):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
    return len(labels)


def from_a_thread(loader):
    batches = queue.Queue(2)

    def load():
        for batch in loader:
            batches.put(batch)
        batches.put(None)

    threading.Thread(target=load, daemon=True).start()
    return iter(batches.get, None)


def refused(call):
    try:
        call()
        return "nothing"
    except (TypeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"


def passes_over_data():
    for options in ({}, {"num_workers": 1}, {"num_workers": 1, "persistent_workers": True}):
        loader = DataLoader(data, batch_size=7, shuffle=True, **options)
        print(options, [[train(*batch) for batch in loader] for _ in range(2)])
        for number, batch in enumerate(loader):  # left before its end
            train(*batch)
            if number == 2:
                break
        print(len(list(loader)))
    eights, tens = DataLoader(data, batch_size=8), DataLoader(data, batch_size=10)
    print([train(*batch) + len(other[1]) for batch, other in zip(eights, tens)])
    for number, batch in enumerate(eights):  # evaluates within an epoch
        train(*batch)
        if number % 2:
            model.eval()
            with torch.no_grad():
                print(sum(len(model(inputs)) for inputs, _ in tens))
            model.train()
    print(sum(train(*batch) for batch in OwnLoader(data, batch_size=16)))
    print(sum(train(*batch) for _, batch in zip(range(20), DataLoader(Endless(), batch_size=4))))
    print([sum(train(*batch) for batch in from_a_thread(eights)) for _ in range(2)])


def calls_of_modules():
    call = nn.Module.__call__
    print(inspect.isfunction(call), call.__qualname__, inspect.getsource(call)[:40].split(), inspect.signature(call))
    print(model.__call__.__self__ is model, model.__call__.__func__ is call, inspect.signature(model.__call__))
    batch = torch.ones(2, 4)
    results = [
        call(model, batch),
        model.__call__(batch),
        functools.partial(model)(batch),
        *map(model, [batch]),
        model(input=batch),
    ]
    print(
        all(torch.equal(results[0], one) for one in results), model[0](batch, scale=2.0).shape, model[0](x=batch).shape
    )
    print(refused(call), refused(model), refused(lambda: Raising()(batch)), Recursive()(batch).shape)
    copy.deepcopy(model)
    pickle.loads(pickle.dumps(model[2]))
    parameters = dict(model[2].named_parameters())
    print(torch.func.functional_call(model[2], parameters, (batch,)).shape, torch.vmap(model[2])(batch).shape)
    seen = []

    def patched(module, *positional, **named):
        seen.append(type(module).__name__)
        return call(module, *positional, **named)

    nn.Module.__call__ = patched
    model(batch)
    nn.Module.__call__ = call
    model(batch)
    print(seen)
    for _ in range(20):  # models that come and go, as in a search
        short_lived = nn.Linear(4, 2)
        its_optimizer = torch.optim.SGD(short_lived.parameters(), lr=0.1)
        short_lived(batch).sum().backward()
        its_optimizer.step()
        del short_lived, its_optimizer
    gc.collect()
    beside = threading.Thread(target=lambda: [model(batch) for _ in range(100)])
    beside.start()
    print(sum(train(*one) for one in DataLoader(data, batch_size=8)))
    beside.join()


def zeroed_gradients():
    for arguments, named in (((True,), {}), ((False,), {}), ((), {"set_to_none": False}), ((), {"set_to_none": True})):
        train(*data[:4])
        optimizer.zero_grad(*arguments, **named)
        print({"none" if one.grad is None else float(one.grad.abs().sum()) for one in model.parameters()})
    model.zero_grad()
    OwnOptimizer(model.parameters(), lr=0.1).zero_grad()
    print(
        inspect.signature(optimizer.zero_grad),
        refused(lambda: optimizer.zero_grad(1, 2)),
        refused(lambda: optimizer.zero_grad(no=1)),
    )


passes_over_data()
calls_of_modules()
zeroed_gradients()
print(model[0].calls, float(sum(one.detach().sum() for one in model.parameters())))
