"""Was die Zeichen eines Notfalls in langen Texten finden. Run by pytest."""

import pathlib
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import notfall  # noqa: E402

FILLING = "Ich schreibe Ihnen von meinem Garten, den Rosen und dem Hund. "


@pytest.mark.parametrize("length", [0, 900, 1000, 1480, 1530, 2000, 9000, 31000, 70000])
def test_the_end_of_a_long_text_counts(length):
    assert notfall.signs(FILLING * (length // 62) + "x" * (length % 62) + "\n\nMein Vater hat starke Atemnot und ist bewusstlos.") is not None


@pytest.mark.parametrize("before", range(300, 2200, 47))
def test_a_sign_counts_once_wherever_it_stands(before):
    filling = "aaaaaaaaa " * (before // 10) + "b" * (before % 10)
    assert notfall.signs(filling + " und Atemnot" + " c" * 800) is not None
    assert notfall.signs(filling + " keine Atemnot und nicht bewusstlos" + " c" * 800) is None


@pytest.mark.parametrize("word", ["wade ", "ö ", "kind fieber ", "hart ", "x"])
def test_what_repeats_costs_little(word):
    began = time.process_time()
    notfall.signs(word * (1000000 // len(word)))
    assert time.process_time() - began < 30  # each took minutes
