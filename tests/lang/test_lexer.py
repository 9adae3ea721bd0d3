"""Tokens: types, places, and going on after what is wrong, as the prompt's colours need it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from lang.test_against_python import SNIPPETS

from gradsh.lang import tokens


def types(text: str, tolerant: bool = True) -> list[str]:
    return [
        f"{kind}" if kind in (word, "") or not word else f"{kind}:{word}" for kind, _, _, word in tokens(text, tolerant)
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1", "NAME:x = NUMBER:1 _NEWLINE $END"),
        ("if x:\n  y\n", "if NAME:x : _NEWLINE _INDENT NAME:y _NEWLINE _DEDENT $END"),
        ("f'a{b!r:>{c}}d'",
        "F_STRING_START:f' F_STRING_TEXT:a { NAME:b CONVERSION:!r : F_STRING_TEXT:> { NAME:c } } F_STRING_TEXT:d"
        " _F_STRING_END:' _NEWLINE $END"),
        ("f'{{}}'", "F_STRING_START:f' F_STRING_TEXT:{{}} _F_STRING_END:' _NEWLINE $END"),
        ("f'{x=}'", "F_STRING_START:f' { NAME:x = } _F_STRING_END:' _NEWLINE $END"),
        ("f'{x:=5}'", "F_STRING_START:f' { NAME:x : F_STRING_TEXT:=5 } _F_STRING_END:' _NEWLINE $END"),
        ("f'{(x:=5)}'", "F_STRING_START:f' { ( NAME:x := NUMBER:5 ) } _F_STRING_END:' _NEWLINE $END"),
        ("f'{a[1:2]}'", "F_STRING_START:f' { NAME:a [ NUMBER:1 : NUMBER:2 ] } _F_STRING_END:' _NEWLINE $END"),
        ("f'{a != b}'", "F_STRING_START:f' { NAME:a != NAME:b } _F_STRING_END:' _NEWLINE $END"),
        ("f'\\N{DASH}\\{x}'", "F_STRING_START:f' F_STRING_TEXT:\\N{DASH}\\ { NAME:x } _F_STRING_END:' _NEWLINE $END"),
        ("rf'\\'{x}'", "F_STRING_START:rf' F_STRING_TEXT:\\' { NAME:x } _F_STRING_END:' _NEWLINE $END"),
        ("x ^ y ^= 1", "NAME:x CARET_POWER:^ NAME:y AUGMENT:^= NUMBER:1 _NEWLINE $END"),
        (":grad of of z", ": NAME:grad of NAME:of NAME:z _NEWLINE $END"),
        (":graph z to a/b.svg; x", ": NAME:graph NAME:z to PATH:a/b.svg ; NAME:x _NEWLINE $END"),
        ("x[:of]", "NAME:x [ : NAME:of ] _NEWLINE $END"),
        ("1if x else 2", "NUMBER:1 if NAME:x else NUMBER:2 _NEWLINE $END"),
        ("1..real", "NUMBER:1. . NAME:real _NEWLINE $END"),
        ("x = (1,\n 2)\n", "NAME:x = ( NUMBER:1 , NUMBER:2 ) _NEWLINE $END"),
        ("x = 1 \\\n + 2", "NAME:x = NUMBER:1 + NUMBER:2 _NEWLINE $END"),
    ],
)  # fmt: skip
def test_types(text: str, wanted: str) -> None:
    assert " ".join(types(text)) == wanted
    assert " ".join(types(text, tolerant=False)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = $ + 1", "NAME:x = ERROR:$ + NUMBER:1 _NEWLINE $END"),
        ("x = 'abc\ny", "NAME:x = ERROR:'abc _NEWLINE NAME:y _NEWLINE $END"),
        ("x = '''abc\ny", "NAME:x = ERROR:'''abc\ny _NEWLINE $END"),
        ("f'{a", "F_STRING_START:f' { NAME:a $END"),
        ("f'abc\nx", "F_STRING_START:f' ERROR:abc _NEWLINE NAME:x _NEWLINE $END"),
        ("f'}' + 1", "F_STRING_START:f' ERROR:} _F_STRING_END:' + NUMBER:1 _NEWLINE $END"),
        ("f'{a:' + 1", "F_STRING_START:f' { NAME:a : _F_STRING_END:' + NUMBER:1 _NEWLINE $END"),
        ("x) + (y]", "NAME:x ERROR:) + ( NAME:y ERROR:] $END"),
        ("12ab + 3", "ERROR:12ab + NUMBER:3 _NEWLINE $END"),
        ("x² + 3", "ERROR:x² + NUMBER:3 _NEWLINE $END"),
        ("if x:\n    y\n  z\n", "if NAME:x : _NEWLINE _INDENT NAME:y _NEWLINE _DEDENT NAME:z _NEWLINE $END"),
        ("“x”", "ERROR:“ NAME:x ERROR:” _NEWLINE $END"),
        ("", "$END"),
    ],
)  # fmt: skip
def test_tolerant(text: str, wanted: str) -> None:
    assert " ".join(types(text)) == wanted


@pytest.mark.parametrize("text", SNIPPETS.values())
def test_places(text: str) -> None:
    for kind, start, end, word in tokens(text):
        if word:
            assert text[start:end] == word or kind == "NAME"
        assert kind != "ERROR"


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="xf1=+-*/()[]{}:;,.'\"\\ \n\t!?$%^&|<>of~#é²“", max_size=40))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for tolerant in (True, False):
        found = tokens(text, tolerant)
        assert found[-1][0] == "$END" or (not tolerant and found[-1][0] == "ERROR")
        before = 0
        for kind, start, end, _ in found:
            if kind not in ("_NEWLINE", "_INDENT", "_DEDENT", "$END") and (tolerant or kind != "ERROR"):
                assert before <= start <= end <= len(text)
                before = end
