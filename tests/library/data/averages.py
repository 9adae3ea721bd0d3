import torch, torch.nn as nn, copy
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
class EMA:
    def __init__(self, model, decay): self.decay = decay; self.shadow = {n: p.data.clone() for n, p in model.named_parameters() if p.requires_grad}; self.backup = {}
    def update(self, model):
        for n, p in model.named_parameters():
            if p.requires_grad: assert n in self.shadow; self.shadow[n] = ((1.0 - self.decay) * p.data + self.decay * self.shadow[n]).clone()
    def apply(self, model):
        for n, p in model.named_parameters(): self.backup[n] = p.data; p.data = self.shadow[n]
    def restore(self, model):
        for n, p in model.named_parameters(): p.data = self.backup[n]
        self.backup = {}
m = nn.Linear(2, 1); ema = EMA(m, 0.9); o = torch.optim.SGD(m.parameters(), 0.1)
teacher = copy.deepcopy(m); [p.requires_grad_(False) for p in teacher.parameters()]
for i in range(5):
    x = torch.randn(4, 2); l = (m(x) - x.sum(1, keepdim=True)).pow(2).mean(); o.zero_grad(); l.backward(); o.step(); ema.update(m)
    for t, s in zip(teacher.parameters(), m.parameters()): t.data.mul_(0.9).add_(s.data, alpha=0.1)
print(m.weight, ema.shadow); ema.apply(m); print(m.weight, torch.allclose(m.weight, teacher.weight)); ema.restore(m); print(m.weight)
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn, get_ema_multi_avg_fn
sm = AveragedModel(m); sch = SWALR(o, swa_lr=0.05, anneal_epochs=3)
for i in range(4):
    x = torch.randn(4, 2); l = (m(x) - x.sum(1, keepdim=True)).pow(2).mean(); o.zero_grad(); l.backward(); o.step(); sm.update_parameters(m); sch.step(); print(o.param_groups[0]["lr"])
print(sm, sm.n_averaged, sm(torch.ones(1, 2)), list(sm.state_dict()))
em = AveragedModel(m, multi_avg_fn=get_ema_multi_avg_fn(0.9)); o.step(); em.update_parameters(m); print(em.module.weight)
bn = AveragedModel(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))); update_bn([torch.randn(4, 2) for _ in range(3)], bn); print(bn.module[1].running_mean)
