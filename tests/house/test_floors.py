"""Imports go down the floors only, function-level ones counted, and units on one floor do not see each other."""

import ast
from collections import defaultdict

import pytest
from tests.house.sources import MODULES, STANDARD, imported, imports, name_of, tree

FLOORS = (
    ("errors",),
    ("nn", "text"),
    ("models", "data", "generate"),
    ("train", "evaluate", "interop", "inspect"),
    ("tasks",),
    ("export", "serve", "lab"),
    ("cli",),
)
FLOOR = {unit: floor for floor, units in enumerate(FLOORS) for unit in units}
OPTIONAL = {
    "matplotlib": "matplotlib",
    "torch.utils.tensorboard": "tensorboard",
    "wandb": "wandb",
    "trackio": "trackio",
    "optuna": "optuna",
    "sacrebleu": "sacrebleu",
    "ctranslate2": "ctranslate2",
    "onnx": "onnx",
    "onnxscript": "onnxscript",
    "onnxruntime": "onnxruntime",
    "huggingface_hub": "huggingface_hub",
    "pyarrow": "pyarrow",
    "transformers": "transformers",
    "fastapi": "fastapi",
    "uvicorn": "uvicorn",
    "prometheus_client": "prometheus-client",
}
NEEDS = {"errors": set(), "nn": {"torch"}, "text": {"tokenizers"}, "generate": {"torch"}}


def unit_of(path):
    unit = name_of(path).split("/")[0].removesuffix(".py")
    return "cli" if unit == "__main__" else unit


INSIDE = [path for path in MODULES if unit_of(path) != "__init__"]
modules = pytest.mark.parametrize("path", INSIDE, ids=name_of)


@modules
def test_a_module_sees_its_own_unit_and_the_floors_below(path):
    unit = unit_of(path)
    assert unit in FLOOR, f"{unit} has no floor yet: give it one here and in the design"
    for name in imports(path):
        if name.startswith("sublayer."):
            other = name.split(".")[1]
            assert other in FLOOR, f"{name_of(path)} imports {name} from the top: import it from its unit"
            assert other == unit or FLOOR[other] < FLOOR[unit], f"{unit} is on floor {FLOOR[unit]} and imports {name}"


@modules
def test_imports_have_their_full_name(path):
    assert not [n for n in ast.walk(tree(path)) if isinstance(n, ast.ImportFrom) and n.level]


@pytest.mark.parametrize("path", [p for p in INSIDE if unit_of(p) in NEEDS], ids=name_of)
def test_the_lower_floors_need_little(path):
    tops = {name.split(".")[0] for name in imports(path)} - STANDARD - {"sublayer"}
    assert tops <= NEEDS[unit_of(path)]


def test_each_optional_dependency_is_imported_in_one_file_where_it_is_used():
    homes = defaultdict(set)
    for path in MODULES:
        at_the_top = {name for node in tree(path).body for name in imported(node)}
        for module, dependency in OPTIONAL.items():
            found = {name for name in imports(path) if f"{name}.".startswith(f"{module}.")}
            assert not found & at_the_top, f"{name_of(path)}: {dependency} is imported before it is used"
            if found:
                homes[dependency].add(name_of(path))
    assert homes.keys() == set(OPTIONAL.values())
    assert all(len(files) == 1 for files in homes.values()), dict(homes)
