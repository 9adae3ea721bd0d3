# Exclusive or, which needs a hidden layer, learned by plain gradient descent and by Adam.
import torch
import torch.nn as nn
import torch.optim as optim

inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
targets = torch.tensor([[0.0], [1.0], [1.0], [0.0]])


class XOR(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 4)
        self.output = nn.Linear(4, 1)

    def forward(self, x):
        return torch.sigmoid(self.output(torch.tanh(self.hidden(x))))


def train(name, model, optimizer, epochs):
    criterion = nn.BCELoss()
    for epoch in range(epochs + 1):
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if epoch % (epochs // 4) == 0:
            print(f"{name:4} epoch {epoch:4}: loss {loss.item():.4f}")


torch.manual_seed(1)
model = XOR()
train("SGD", model, optim.SGD(model.parameters(), lr=0.5), 800)
with torch.no_grad():
    print(model(inputs).round().squeeze())

model = XOR()
train("Adam", model, optim.Adam(model.parameters(), lr=0.05), 200)
with torch.no_grad():
    print(model(inputs).round().squeeze())
