"""All claims, in the order of the report. A family is a module that measures and a YAML file, of the same name, that
says what is claimed."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from sublayer.lab.claim import Chart, Claim, Prediction, Text
from sublayer.tasks.recipe_file import read_yaml

FAMILIES = (
    "exchange",
    "formulas",
    "scaling",
    "masks",
    "starts",
    "deep",
    "heads",
    "feeding",
    "training",
    "reach",
    "minilm",
    "probes",
)


def _family(name: str) -> Iterator[Claim]:
    module = import_module(f"sublayer.lab.{name}")
    for id, said in read_yaml(Path(__file__).with_name(f"{name}.yaml")).items():
        yield Claim(
            id,
            place=Text(**said["place"]),
            statement=Text(**said["statement"]),
            method=Text(**said["method"]),
            refuted_by=Text(**said["refuted_by"]),
            predictions=tuple(map(_prediction, said["predictions"])),
            chart=Chart(**said["chart"]),
            measure=getattr(module, said["measure"]),
            needs=tuple(said.get("needs", ())),
            seeds=said.get("seeds", 5),
            first=said.get("first", 0),
        )


def _prediction(said: Mapping[str, Any]) -> Prediction:
    ranges = {name: value for name, value in said.items() if name not in ("en", "zh")}
    return Prediction(says=Text(said["en"], said["zh"]), **ranges)


CLAIMS = tuple(claim for family in FAMILIES for claim in _family(family))
