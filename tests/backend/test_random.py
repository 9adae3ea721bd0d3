"""Random numbers are those of PyTorch 2.13's CPU generator, to the last bit; data/random*.json holds what it drew."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradsh.backend.dtypes import BY_NAME
from gradsh.backend.random import DEFAULT_SEED, Generator, fresh_seed

DATA = Path(__file__).parent / "data"
STREAMS = json.loads((DATA / "random.json").read_text())
FAULTS = json.loads((DATA / "random_faults.json").read_text())
STATE = json.loads((DATA / "random_state.json").read_text())

recorded_with_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other C libraries round logarithms and sines otherwise"
)


def given(argument: Any) -> Any:
    """An argument as recorded: an array is written as its values and type."""
    if isinstance(argument, dict):
        return np.array(argument["values"], BY_NAME[argument["dtype"]].code)
    return argument


def drawn(generator: Generator, call: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The answer to one recorded call, into an array of the recorded layout where it has one."""
    settings = {}
    dtype = np.dtype(BY_NAME[call["dtype"]].code)
    if "strides" in call:
        strides = [step * dtype.itemsize for step in call["strides"]]
        settings["out"] = np.lib.stride_tricks.as_strided(np.zeros(4096, dtype), call["shape"], strides)
    answer = getattr(generator, call["method"])(*map(given, call["arguments"]), **settings)
    assert answer.dtype == dtype
    assert list(answer.shape) == call["shape"]
    assert settings.get("out", answer) is answer
    return np.ascontiguousarray(answer)


@recorded_with_glibc
@pytest.mark.parametrize("stream", STREAMS, ids=range(len(STREAMS)))
def test_a_stream_gives_pytorchs_numbers_in_any_order_of_calls(stream: dict[str, Any]) -> None:
    generator = Generator(stream["seed"])
    for call in stream["calls"]:
        answer = drawn(generator, call)
        if "numbers" in call:
            assert answer.tobytes() == np.array(call["numbers"], answer.dtype).tobytes(), call
        else:
            assert hashlib.sha256(answer.tobytes()).hexdigest() == call["sha256"], call
    assert hashlib.sha256(generator.get_state().tobytes()).hexdigest() == stream["state"]


@pytest.mark.parametrize(("method", "arguments", "kind", "message", "state"), FAULTS)
def test_a_mistake_has_pytorchs_message_and_draws_no_more_than_there(
    method: str, arguments: list[Any], kind: str, message: str, state: str
) -> None:
    generator = Generator(1)
    if method == "multinomial":
        whole = np.asarray(arguments[0]).dtype.kind == "i"
        arguments = [np.array(arguments[0], np.int64 if whole else np.float32), *arguments[1:]]
    with pytest.raises((RuntimeError, ValueError)) as caught:  # NotImplementedError is a RuntimeError
        getattr(generator, method)(*arguments)
    assert (type(caught.value).__name__, str(caught.value)) == (kind, message)
    assert hashlib.sha256(generator.get_state().tobytes()).hexdigest() == state


def test_a_wrong_probability_ends_the_drawing_at_its_place() -> None:
    generator, other = Generator(3), Generator(3)
    with pytest.raises(RuntimeError, match="Expected p_in >= 0 && p_in <= 1 to be true, but got false"):
        generator.bernoulli((3,), "float32", np.array([0.5, 0.5, 1.5], np.float32))
    other.words(2)
    assert (generator.get_state() == other.get_state()).all()


@recorded_with_glibc
def test_a_state_of_pytorch_is_taken_up_and_given_back() -> None:
    state = np.frombuffer(bytes.fromhex(STATE["state"]), np.uint8)
    generator = Generator().set_state(state)
    assert generator.initial_seed() == STATE["seed"]
    assert (generator.get_state() == state).all()
    copy = generator.clone()
    for stream in (generator, copy):
        assert stream.normal((3,), "float64").tolist() == STATE["then"]
    assert hashlib.sha256(Generator(STATE["seed"]).get_state().tobytes()).hexdigest() == STATE["fresh"]


def test_a_state_that_is_none_is_refused() -> None:
    generator = Generator()
    with pytest.raises(TypeError, match=r"^RNG state must be a torch\.ByteTensor$"):
        generator.set_state(np.zeros(5056))
    with pytest.raises(RuntimeError, match=r"Expected a CPUGeneratorImplState of size 5056 but found .* to be 3$"):
        generator.set_state(np.zeros(3, np.uint8))
    with pytest.raises(RuntimeError, match=r"^Invalid mt19937 state$"):
        generator.set_state(np.zeros(5056, np.uint8))


def test_seeds() -> None:
    assert Generator().initial_seed() == DEFAULT_SEED == STATE["default_seed"]
    assert Generator(-1).initial_seed() == 2**64 - 1
    generator = Generator(7)
    seed = generator.seed()
    assert seed == generator.initial_seed() != fresh_seed()
    assert generator.words(4).tolist() == Generator(seed).words(4).tolist()


def test_words_do_not_depend_on_how_many_are_drawn_at_once() -> None:
    by_parts, at_once = Generator(5), Generator(5)
    parts = [by_parts.words(count) for count in (0, 1, 623, 624, 4095, 4096, 9000)]
    assert np.concatenate(parts).tolist() == at_once.words(1 + 623 + 624 + 4095 + 4096 + 9000).tolist()


def test_the_way_for_permutations_of_hundreds_of_millions() -> None:
    from gradsh.backend.random import _shuffled_inside_out

    words = np.array([9, 4, 8, 7, 2**64 - 1], np.uint64)  # remainders by 1, 2, 3, 4, 5: 0, 0, 2, 3, 0
    assert _shuffled_inside_out(words).tolist() == [4, 0, 2, 3, 1]


def test_importing_the_generator_does_not_import_numpy() -> None:
    program = "import sys, gradsh.backend.random; print('numpy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


def test_a_single_probability_without_dimensions_takes_one_word_and_a_float_two() -> None:
    for p, words in ((np.float32(0.5), 1), (np.array(0.5, np.float32), 1), (np.array(0.5), 2), (0.5, 2)):
        generator, other = Generator(3), Generator(3)
        generator.bernoulli((), "float32", p)
        other.words(words)
        assert (generator.get_state() == other.get_state()).all()
