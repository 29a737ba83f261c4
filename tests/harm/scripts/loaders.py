"""DataLoaders: lifetimes, order, errors, what is found on them."""

SCRIPTS = {
    "loader_plain": "print(epochs())",
    "loader_let_go": """
class Closing(Rows):
    def __del__(self):
        print("data set closed")
mine = DataLoader(Closing(), batch_size=8)
for x, y in mine: step(x, y)
del mine, x, y
gc.collect()
print("after")
""",
    "loader_per_stage": """
import weakref
sets = []
for stage in range(3):
    data = Rows(32 + stage)
    sets.append(weakref.ref(data))
    for x, y in DataLoader(data, batch_size=8): step(x, y)
    del data
    gc.collect()
    print(stage, [one() is not None for one in sets])
""",
    "loader_counts_lengths": """
class Counted(Rows):
    lengths = 0
    def __len__(self):
        Counted.lengths += 1
        return super().__len__()
epochs(2, DataLoader(Counted(), batch_size=8))
print(Counted.lengths)
""",
    "loader_in_header": """
class Loader(DataLoader):
    def __del__(self):
        print("loader gone")
for number, (x, y) in enumerate(Loader(Rows(), batch_size=8)):
    print(number)
    step(x, y)
""",
    "loader_next_iter": """
for _ in range(3):
    x, y = next(iter(DataLoader(Rows(), batch_size=8, shuffle=True)))
    print(step(x, y))
""",
    "loader_iterator_kept": """
iterator = iter(loader)
for _ in range(2): step(*next(iterator))
print(sorted(vars(iterator)))
del iterator
gc.collect()
""",
    "loader_two_at_once": """
other = DataLoader(Rows(16), batch_size=4, shuffle=True)
for (x, y), (a, b) in zip(loader, other): print(step(x, y), step(a, b))
""",
    "loader_shuffled_workers": """
mine = DataLoader(Rows(), batch_size=4, shuffle=True, num_workers=2)
print(epochs(2, mine))
""",
    "loader_persistent_workers": """
mine = DataLoader(Rows(), batch_size=4, shuffle=True, num_workers=1, persistent_workers=True)
print(epochs(3, mine))
del mine
gc.collect()
""",
    "loader_spawned_workers": """
if __name__ == "__main__":
    from torch.utils.data import TensorDataset
    mine = DataLoader(TensorDataset(*torch.randn(2, 16)), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    print([round(float(x.sum() + y.sum()), 4) for x, y in mine])
""",
    "loader_worker_raises": """
class Bad(Rows):
    def __getitem__(self, index):
        if index == 9: raise ValueError("bad row")
        return super().__getitem__(index)
epochs(1, DataLoader(Bad(), batch_size=4, num_workers=1))
""",
    "loader_data_set_raises": """
class Bad(Rows):
    def __getitem__(self, index):
        if index == 9: raise ValueError("bad row")
        return super().__getitem__(index)
epochs(1, DataLoader(Bad(), batch_size=4))
""",
    "loader_stack_in_data_set": """
import traceback
class Seen(Rows):
    def __getitem__(self, index):
        if index == 9: print("".join(traceback.format_stack()))
        return super().__getitem__(index)
epochs(1, DataLoader(Seen(), batch_size=4))
""",
    "loader_stack_in_sampler": """
import traceback
def indices():
    yield from range(8)
    print("".join(traceback.format_stack()))
    raise RuntimeError("sampler")
class Sampler(torch.utils.data.Sampler):
    def __iter__(self): return indices()
    def __len__(self): return 12
epochs(1, DataLoader(Rows(), batch_size=4, sampler=Sampler()))
""",
    "loader_wrong_length": """
warnings.filterwarnings("ignore", module="__main__")
class Stream(torch.utils.data.IterableDataset):
    def __len__(self): return 8
    def __iter__(self): return iter(torch.randn(16, 2, 4))
mine = DataLoader(Stream(), batch_size=4)
print(len(mine))
for x in mine: pass
""",
    "loader_wrong_arguments": "DataLoader(Rows(), batch_size=4, shuffle=True, sampler=[1, 2])",
    "loader_constructor_stack": """
import traceback
class Loader(DataLoader):
    def __setattr__(self, name, value):
        if name == "dataset": print("".join(traceback.format_stack()))
        super().__setattr__(name, value)
Loader(Rows())
""",
    "loader_batch_sampler": """
mine = DataLoader(Rows(), batch_sampler=[[0, 1], [2, 3, 4], [5]])
print([len(x) for x, y in mine])
""",
    "loader_iterates_in_a_circle": """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        yield from ((torch.ones(4), torch.zeros(1)) for _ in range(32))
Stream.__iter__.__wrapped__ = Stream.__iter__
for x, y in DataLoader(Stream(), batch_size=8, num_workers=2): print(step(x, y))
""",
    "loader_iterable": """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self): return iter(torch.randn(12, 5))
for batch in DataLoader(Stream(), batch_size=4): print(step(batch[:, :4], batch[:, 4]))
""",
    "loader_weighted": """
from torch.utils.data import WeightedRandomSampler
mine = DataLoader(Rows(), batch_size=8, sampler=WeightedRandomSampler(torch.ones(24), 24))
print(epochs(2, mine))
""",
    "loader_saved": """
import io
file = io.BytesIO()
epochs(1)
torch.save(loader, file)
print(len(file.getvalue()))
""",
    "loader_random_state": """
import random
random.seed(3)
epochs(1, DataLoader(Rows(), batch_size=8, shuffle=True))
print(random.random(), torch.rand(2), torch.initial_seed())
""",
    "loader_interrupted": """
for number, (x, y) in enumerate(DataLoader(Rows(), batch_size=4, num_workers=1)):
    step(x, y)
    if number == 2: raise KeyboardInterrupt
""",
}
