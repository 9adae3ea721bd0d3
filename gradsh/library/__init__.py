"""The library's modules as a program sees them, and what is written in gradsh itself: layers, losses, optimisers.

`library/nn/modules/linear.grad` is the module `torch.nn.modules.linear`; a file is compiled when one of its names is
first used, and can be read with `:source Linear`.
"""
