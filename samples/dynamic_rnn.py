# One recurrent network over sequences of any length: each call unrolls its own graph.
import torch
import torch.nn as nn

torch.manual_seed(0)


class DynamicRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size, batch_first=True)
        self.linear = nn.Linear(hidden_size, output_size)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.linear(out[:, -1, :])


model = DynamicRNN(input_size=4, hidden_size=8, output_size=2)
print(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.MSELoss()

for length in [3, 5, 8, 2]:
    x = torch.randn(2, length, 4)
    target = torch.zeros(2, 2)
    optimizer.zero_grad()
    output = model(x)
    loss = criterion(output, target)
    loss.backward()
    optimizer.step()
    norm = model.rnn.weight_hh_l0.grad.norm()
    print(f"length {length}: output {tuple(output.shape)}, loss {loss.item():.4f}, gradient norm {norm:.4f}")
