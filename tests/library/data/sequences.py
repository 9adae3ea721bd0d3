import torch
from torch import nn
from torch.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

torch.set_default_dtype(torch.float64)


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


x = torch.arange(24.0).reshape(4, 3, 2)
attempt(lambda: pack_padded_sequence(x, [4, 2, 1]))
attempt(lambda: pack_padded_sequence(x, [2, 4, 1]))
attempt(lambda: pack_padded_sequence(x, torch.tensor([2, 4, 1]), enforce_sorted=False))
attempt(lambda: pack_padded_sequence(x.transpose(0, 1), [4, 2, 1], batch_first=True))
attempt(lambda: pack_padded_sequence(x, [4, 2]))
attempt(lambda: pack_padded_sequence(x, [4, 2, 0]))
packed = pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
attempt(lambda: pad_packed_sequence(packed))
attempt(lambda: pad_packed_sequence(packed, True, -1.0, 5))
attempt(lambda: pad_packed_sequence(packed, total_length=3))
attempt(lambda: pad_sequence([torch.ones(2), torch.zeros(3)]))
attempt(lambda: pad_sequence([torch.ones(2), torch.zeros(3)], True, 5.0))
attempt(lambda: pad_sequence([torch.ones(2), torch.zeros(3)], True, 5.0, "left"))
attempt(lambda: pad_sequence(3))
attempt(lambda: pad_sequence([torch.ones(2, 2), torch.zeros(3, 3)]))
attempt(lambda: pad_sequence([torch.ones(2, requires_grad=True), torch.zeros(3)]))
attempt(lambda: pack_sequence([torch.ones(3), torch.zeros(2)]))
attempt(lambda: unpack_sequence(packed))
attempt(lambda: unpad_sequence(x, torch.tensor([4, 2, 1])))
attempt(lambda: (packed.data.shape, packed.is_cuda, packed.to(torch.float32).data.dtype))
attempt(lambda: PackedSequence(torch.ones(3), torch.tensor([2, 1])))
torch.manual_seed(0)
x = torch.randn(5, 4, 3)
for lengths in ([5, 3, 3, 1], [2, 5, 1, 4]):
    packed = pack_padded_sequence(x, lengths, enforce_sorted=lengths[0] == 5)
    for kind in (nn.RNN, nn.GRU, nn.LSTM):
        for setting in ({}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True, "batch_first": True}):
            torch.manual_seed(1)
            layer = kind(3, 2, **setting)
            count = setting.get("num_layers", 1) * (2 if setting.get("bidirectional") else 1)
            h, c = torch.randn(count, 4, 2), torch.randn(count, 4, 2)
            for hx in (None, (h, c) if kind is nn.LSTM else h):
                out, last = layer(packed, hx)
                states = last if kind is nn.LSTM else (last,)
                print(kind.__name__, setting, out.batch_sizes.tolist(), f"{out.data.sum().item():.9f}")
                for state in states:
                    print(" ".join(f"{number:.12e}" for number in state[-1].reshape(-1).tolist()))
                layer.zero_grad()
                (out.data**2).sum().backward()
                print(" ".join(f"{parameter.grad.sum().item():.9f}" for parameter in layer.parameters()))
