"""Modules that gradsh has not, and what to write instead: one line each."""

from __future__ import annotations

DATA = 'read_csv("file.csv"), or tensors of your own'
COMPLEX = "real and imaginary part as two tensors"

MODULES = {
    "os": 'read_text("file"), or the script\'s `args`',
    "sys": 'args, or print(end="")',
    "pathlib": 'read_text("file")', "glob": "args: gradsh FILE *.txt", "shutil": "the shell around gradsh",
    "argparse": "args holds the script's arguments: gradsh FILE ARG…",
    "subprocess": "the shell around gradsh", "threading": "one program at a time", "multiprocessing": "one process",
    "logging": "print(…)", "pickle": "torch.save(value, path)", "csv": 'read_csv("file.csv")', "timeit": ":time e",
    "cProfile": ":time e", "pdb": "print(…)", "inspect": ":source f", "unittest": "assert", "pytest": "assert",
    "torchvision": DATA, "torchtext": DATA, "torchaudio": DATA, "datasets": DATA, "pandas": 'read_csv("file.csv")',
    "sklearn": "the same computation with tensors", "scipy": "numpy, or the same computation with tensors",
    "PIL": DATA, "cv2": DATA, "requests": "a file: read_text(path)", "urllib": "a file: read_text(path)",
    "d2l": "the functions that you use, in the program itself",
    "seaborn": "import matplotlib.pyplot as plt", "plotly": "import matplotlib.pyplot as plt",
    "IPython": "print(…)", "tensorboard": "print(…)", "tensorboardX": "print(…)", "visdom": "print(…)", "wandb": "print(…)",
    "torchviz": ":graph z to graph.svg", "graphviz": ":graph z to graph.svg", "hiddenlayer": ":graph z",
    "torchsummary": "print(model)", "torchinfo": "print(model)",
    "tensorflow": "import torch", "keras": "import torch", "jax": "torch.func", "autograd": "torch.func",
    "torchdiffeq": "the steps of a solver in a loop", "transformers": "layers of torch.nn", "spacy": "str.split()",
    "nltk": "str.split()", "gym": "an environment of your own: a class with reset and step",
    "gymnasium": "an environment of your own: a class with reset and step", "pytorch_lightning": "a loop of your own",
    "lightning": "a loop of your own", "datetime": "time.strftime(…)",
}  # fmt: skip

# The same below torch: modules and functions of it.
TORCH = {
    "torch.distributed": "one process", "torch.multiprocessing": "one process", "torch.nn.parallel": "the model itself",
    "torch.nn.DataParallel": "the model itself", "torch.profiler": ":time e", "torch.autograd.profiler": ":time e",
    "torch.utils.benchmark": ":time e", "torch.utils.tensorboard": "print(…)", "torch.utils.bottleneck": ":time e",
    "torch.jit": "the function or model itself", "torch.onnx": "torch.save(model.state_dict(), path)", "torch.fx": ":graph z",
    "torch.hub": "layers of torch.nn", "torch.sparse": "a dense tensor", "torch.quantization": "a model in float32",
    "torch.cuda.amp": "the code inside, without it", "torch.amp": "the code inside, without it",
    "torch.utils.cpp_extension": "torch.autograd.Function", "torch.library": "torch.autograd.Function",
    "torch.export": "torch.save(model.state_dict(), path)",
    "torch.autocast": "the code inside, without it", "torch.bfloat16": "torch.float16, or torch.float32",
    "torch.fft": COMPLEX, "torch.stft": COMPLEX, "torch.istft": COMPLEX, "torch.complex64": COMPLEX,
    "torch.complex128": COMPLEX, "torch.complex": COMPLEX, "torch.polar": COMPLEX, "torch.view_as_complex": COMPLEX,
    "torch.nested": "a padded tensor and a mask", "torch.ao": "a model in float32",
}  # fmt: skip


def help_for(path: str) -> str | None:
    """What to use instead of a module: of one below it that is refused, too."""
    parts = path.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((found for name in names if (found := TORCH.get(name) or MODULES.get(name))), None)
