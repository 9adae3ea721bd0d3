"""torch.utils.data: datasets, samplers and loaders, drawn from the generator as PyTorch draws."""
from collections import OrderedDict, namedtuple

import numpy as np
import torch
import torch.utils.data as Data
from torch.utils.data import (
    BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, SequentialSampler,
    StackDataset, Subset, SubsetRandomSampler, TensorDataset, WeightedRandomSampler, random_split,
)
from torch.utils.data.dataloader import default_collate

torch.manual_seed(1)
x, y = torch.linspace(1, 10, 10), torch.linspace(10, 1, 10)
dataset = Data.TensorDataset(x, y)
loader = Data.DataLoader(dataset=dataset, batch_size=5, shuffle=True, num_workers=0)
for epoch in range(2):
    for step, (batch_x, batch_y) in enumerate(loader):
        print("epoch", epoch, "step", step, batch_x.numpy(), batch_y.numpy())
print(torch.rand(1), len(loader), len(dataset), dataset[3], dataset[2:4])


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        return torch.tensor([idx, idx ** 2], dtype=torch.float32), idx % 2, f"item {idx}", {"half": idx / 2}


for batch in DataLoader(Squares(5), batch_size=2):
    print(batch)
print([len(b[2]) for b in DataLoader(Squares(5), batch_size=2, drop_last=True)])
train, val = random_split(Squares(10), [7, 3])
print(len(train), train.indices, val.indices, val[0])
print([len(part) for part in random_split(range(10), [0.35, 0.35, 0.3], generator=torch.Generator().manual_seed(42))])
print(list(random_split(range(10), [3, 7], generator=torch.Generator().manual_seed(42))[0]))
print(list(SequentialSampler(range(4))), list(RandomSampler(range(5))), list(RandomSampler(range(5), True, 40)))
print(list(RandomSampler(range(5), num_samples=8)), list(SubsetRandomSampler([3, 5, 7])), list(SubsetRandomSampler([3, 5, 7])))
print(list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 5)), list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 3, replacement=False)))
print(list(BatchSampler(SequentialSampler(range(7)), 3, False)), list(BatchSampler(SequentialSampler(range(7)), 3, True)))
print(list(DataLoader(range(6), sampler=SubsetRandomSampler([0, 2, 4]), batch_size=2)))
print(list(DataLoader(range(6), batch_sampler=BatchSampler(SequentialSampler(range(6)), 4, False))))
print(list(DataLoader(range(3), batch_size=None)), list(DataLoader(range(4), batch_size=4, collate_fn=lambda items: sum(items))))
g = torch.Generator().manual_seed(0)
print(list(DataLoader(range(6), 3, shuffle=True, generator=g)), list(DataLoader(range(6), 3, shuffle=True, generator=g)), torch.rand(1))


class Stream(IterableDataset):
    def __init__(self, start, end):
        super().__init__()
        self.start, self.end = start, end

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        assert info is None
        return iter(range(self.start, self.end))

    def __len__(self):
        return self.end - self.start


stream = DataLoader(Stream(3, 10), batch_size=3)
print(list(stream), len(stream), list(DataLoader(Stream(0, 4), batch_size=3, drop_last=True)))
print(list(DataLoader(ChainDataset([Stream(0, 2), Stream(5, 7)]), batch_size=3)), list(Stream(0, 2) + Stream(8, 9)))
both = ConcatDataset([TensorDataset(x[:2]), TensorDataset(x[5:7])])
print(len(both), both[2], both[-1], (TensorDataset(x) + TensorDataset(y))[15], len(Subset(dataset, [1, 4])), Subset(dataset, [1, 4])[1])
print(StackDataset(range(3), [7, 8, 9])[1], StackDataset(a=range(3), b="xyz")[2])
Point = namedtuple("Point", ["x", "y"])
print(default_collate([1, 2]), default_collate([1.5, 2.5]), default_collate([True, False]), default_collate(["a", "b"]))
print(default_collate([(1, 2.0), (3, 4.0)]), default_collate([[1, 2], [3, 4]]), default_collate([Point(0, 1), Point(2, 3)]))
print(default_collate([{"a": 1, "b": [2]}, {"a": 3, "b": [4]}]), default_collate([OrderedDict(a=1), OrderedDict(a=2)]))
print(default_collate([np.ones(2), np.zeros(2)]), default_collate([np.float32(1), np.float32(2)]), default_collate([np.int64(3)]))
iterator = iter(loader)
print(next(iterator)[0].shape, type(loader), type(iterator), type(dataset), loader.batch_size, loader.dataset is dataset)
for attempt in (
    lambda: Dataset()[0], lambda: len(Dataset()), lambda: TensorDataset(x, y[:3]), lambda: next(iter(DataLoader([None]))),
    lambda: list(DataLoader([[1], [2, 3]], batch_size=2)), lambda: list(DataLoader([torch.ones(1), torch.ones(2)], batch_size=2)),
    lambda: DataLoader([1], batch_size=0), lambda: DataLoader([1], batch_size=1.5), lambda: DataLoader([1], shuffle=True, sampler=[0]),
    lambda: DataLoader([1], batch_size=2, batch_sampler=[[0]]), lambda: DataLoader(Stream(0, 1), shuffle=True),
    lambda: DataLoader([1], num_workers=-1), lambda: random_split(range(4), [1, 2]), lambda: RandomSampler([]),
    lambda: ConcatDataset([]), lambda: BatchSampler([1], 2, None), lambda: next(iterator) and next(iterator),
    lambda: WeightedRandomSampler([0.1], 0), lambda: DataLoader([1], batch_size=None, drop_last=True), lambda: iterator.next(),
):
    try:
        print(attempt())
    except (Exception, StopIteration) as error:
        print(type(error).__name__, error)
