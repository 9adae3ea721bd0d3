import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def gradients():
    torch.manual_seed(11)
    parameters = [torch.randn(3, 2, requires_grad=True), torch.randn(2, requires_grad=True), torch.randn(2)]
    (parameters[0].sin().sum() * 3 + (parameters[1] ** 2).sum()).backward()
    return parameters


for norm_type in (2.0, 1.0, float("inf"), 3):
    for max_norm in (0.1, 1e6):
        parameters = gradients()
        print(f"{nn.utils.clip_grad_norm_(parameters, max_norm, norm_type).item():.12e}")
        print([[f"{number:.12e}" for number in p.grad.reshape(-1).tolist()] for p in parameters[:2]])
parameters = gradients()
print(nn.utils.clip_grad_norm_(parameters[1], 0.5), parameters[1].grad)
nn.utils.clip_grad_value_(parameters, 0.2)
print(parameters[0].grad, parameters[1].grad)
vector = nn.utils.parameters_to_vector(parameters)
print(vector)
nn.utils.vector_to_parameters(vector.detach() * 2, parameters)
print(parameters, parameters[0].is_leaf)
