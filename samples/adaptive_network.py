# A network that chooses its hidden size when it first sees its input, and its depth at each call.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class AdaptiveNetwork(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.outputs = outputs
        self.layers = None

    def build(self, features):
        hidden = 2 * features if features < 10 else features // 2
        self.layers = nn.ModuleList([nn.Linear(features, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, self.outputs)])

    def forward(self, x):
        if self.layers is None:
            self.build(x.shape[-1])
        h = torch.tanh(self.layers[0](x))
        for _ in range(1 if x.shape[0] > 4 else 2):
            h = torch.tanh(self.layers[1](h))
        return self.layers[2](h)


for features in [3, 16]:
    network = AdaptiveNetwork(outputs=1)
    x = torch.randn(8, features)
    target = x.sum(dim=1, keepdim=True).sign()
    network(x)
    count = sum(p.numel() for p in network.parameters())
    print(f"{features} features: hidden size {network.layers[0].out_features}, {count} parameters")

    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for epoch in range(41):
        optimizer.zero_grad()
        loss = F.mse_loss(network(x), target)
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            print(f"  epoch {epoch}: loss {loss.item():.4f}")
    print("  two samples, one layer deeper:", tuple(network(x[:2]).shape))
