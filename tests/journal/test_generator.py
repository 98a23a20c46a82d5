"""Journals with known truth: the same seed gives the same journal, and the classification finds the truth."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from harness_kit.errors import InputError
from harness_kit.journal import context, gate, generator, ledger, parsing, reading
from harness_kit.journal.config import Config
from harness_kit.journal.rows import RowClass

CONFIG = Config.from_mapping(generator.CONFIG)


@pytest.mark.parametrize("seed", range(5))
def test_the_classification_is_the_truth(seed: int, tmp_path: Path) -> None:
    made = generator.generate(Random(seed), rows=1_000, crowd=seed / 10)
    generator.write_csv(made.records, tmp_path / "journal.csv")
    table = reading.read(tmp_path / "journal.csv")
    rows = parsing.parse_rows(table)
    assert context.examine(table, rows, CONFIG) == ()
    result = ledger.classify(rows, CONFIG)
    found = {row_id: Counter[str]() for row_id in made.truth}
    for item in result.allocations:
        found[item.row_id][item.row_class] += item.amount
    assert {row_id: dict(+parts) for row_id, parts in found.items()} == made.truth
    assert gate.check(table, CONFIG, result).passed
    assert {name for parts in made.truth.values() for name in parts} == set(RowClass)


def test_the_same_seed_gives_the_same_journal() -> None:
    assert generator.generate(Random(3), rows=300) == generator.generate(Random(3), rows=300)
    assert generator.generate(Random(3), rows=300) != generator.generate(Random(4), rows=300)
    assert 300 <= len(generator.generate(Random(3), rows=300).records) < 310


def test_what_cannot_be_made_is_refused() -> None:
    for rows, crowd in ((0, 0.1), (10, 1.5), (10, -0.1)):
        with pytest.raises(InputError, match="expected rows from 1"):
            generator.generate(Random(1), rows=rows, crowd=crowd)
