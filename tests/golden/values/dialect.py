# options: --echo
import torch
2 ^ 3
[0] * 3
sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
torch.tensor([1.0]).dtype
