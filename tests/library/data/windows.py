import torch
torch.set_default_dtype(torch.float64)
import torch.nn as nn
for w in [torch.hann_window, torch.hamming_window, torch.bartlett_window, torch.blackman_window]:
    print(w(4), w(5, periodic=False), w(1), w(0), w(6, dtype=torch.float64), w(3, requires_grad=True), w(window_length=2))
    for bad in [lambda: w(-1), lambda: w(3, dtype=torch.int64), lambda: w(2.5)]:
        try: print(bad())
        except Exception as e: print(type(e).__name__, str(e))
print(torch.hamming_window(4, True, 0.5), torch.hamming_window(4, False, 0.6, 0.4))
print(nn.utils.skip_init(nn.Linear, 2, 3, bias=False), torch.autograd.set_detect_anomaly(False).__class__, torch.autograd.graph.saved_tensors_hooks.__name__)
