import pytest
import torch
from torch import nn

from sublayer.errors import CheckpointError
from sublayer.interop.rule import COPY, Rule, Stacked, Table, convert, invert, load

TABLE = Table(
    (
        Rule("h.{i}.qkv.{p}", ("layers.{i}.q.{p}", "layers.{i}.k.{p}", "layers.{i}.v.{p}"), Stacked(3)),
        Rule("h.{i}.out.{p}", "layers.{i}.out.{p}"),
        Rule("wte.weight", "embed.weight"),
    ),
    ignore=("h.{i}.mask", "wpe"),
)


def theirs(layers=2):
    tensors = {"wte.weight": torch.randn(5, 4)}
    for i in range(layers):
        tensors[f"h.{i}.qkv.weight"], tensors[f"h.{i}.qkv.bias"] = torch.randn(12, 4), torch.randn(12)
        tensors[f"h.{i}.out.weight"], tensors[f"h.{i}.out.bias"] = torch.randn(4, 4), torch.randn(4)
    return tensors


def ours(layers=2):
    def layer():
        return nn.ModuleDict({name: nn.Linear(4, 4) for name in ("q", "k", "v", "out")})

    return nn.ModuleDict({"embed": nn.Embedding(5, 4), "layers": nn.ModuleList(layer() for _ in range(layers))})


@pytest.mark.parametrize("transform", [COPY, Stacked(2), Stacked(3)])
def test_every_transform_is_its_own_way_back(transform):
    tensor = torch.randn(6, 4)
    assert transform.join(transform.split(tensor)).equal(tensor)


def test_left_to_right_and_back():
    source = theirs(12)
    there = convert(TABLE, source)
    assert there["layers.11.k.weight"].equal(source["h.11.qkv.weight"][4:8])
    assert there["layers.1.v.bias"].equal(source["h.1.qkv.bias"][8:])
    assert set(there) == set(ours(12).state_dict())
    back = invert(TABLE, there)
    assert back.keys() == source.keys() and all(back[name].equal(source[name]) for name in source)


def test_what_is_ignored_is_dropped_on_the_way():
    extra = {"h.0.mask": torch.ones(1), "wpe": torch.ones(1)}
    assert convert(TABLE, theirs() | extra).keys() == convert(TABLE, theirs()).keys()


def test_names_match_as_a_whole():
    for name in ("x.wte.weight", "wte.weights", "wtexweight", "h.a.out.weight", "h.0.out.gain", "h.0.0.out.bias"):
        with pytest.raises(CheckpointError, match="not known"):
            convert(TABLE, {name: torch.ones(1)})


def test_every_leftover_is_told_in_both_directions():
    with pytest.raises(CheckpointError) as caught:
        convert(TABLE, theirs() | {"lm_head": torch.ones(2, 3), "h.0.gate": torch.ones(1)})
    assert str(caught.value).splitlines() == [
        "These tensors have no counterpart here:",
        "  - not known: lm_head (2, 3)",
        "  - not known: h.0.gate (1,)",
    ]
    halved = convert(TABLE, theirs(1)) | {"layers.0.gate": torch.ones(2)}
    del halved["layers.0.k.bias"]
    with pytest.raises(CheckpointError) as caught:
        invert(TABLE, halved)
    assert str(caught.value).splitlines() == [
        "These tensors have no counterpart there:",
        "  - not known: layers.0.q.bias (4,)",
        "  - not known: layers.0.v.bias (4,)",
        "  - not known: layers.0.gate (2,)",
    ]


def test_load_puts_every_tensor_in_its_place():
    model, source = ours(), theirs()
    load(model, TABLE, source | {"wpe": torch.ones(1)})
    back = invert(TABLE, model.state_dict())
    assert all(back[name].equal(source[name]) for name in source)


def test_load_tells_everything_at_once_and_changes_nothing():
    model, source = ours(1), theirs(1)
    before = {name: x.clone() for name, x in model.state_dict().items()}
    source["h.0.qkv.weight"] = torch.randn(9, 4)
    source["h.0.outer.bias"] = source.pop("h.0.out.bias")
    source["h.1.out.bias"] = torch.ones(4)
    with pytest.raises(CheckpointError) as caught:
        load(model, TABLE, source, "that file")
    assert str(caught.value).splitlines() == [
        "that file does not fit the model:",
        "  - missing: h.0.out.bias (4,)",
        "  - not used: h.0.outer.bias (4,)",
        "  - not used: h.1.out.bias (4,)",
        "  - shape: h.0.qkv.weight is (9, 4), expected (12, 4)",
    ]
    assert all(before[name].equal(x) for name, x in model.state_dict().items())


def test_a_model_with_parts_the_table_does_not_know_is_told():
    model = ours()
    model["gate"] = nn.Linear(2, 2, bias=False)
    with pytest.raises(CheckpointError, match=r"no counterpart there:\n  - not known: gate\.weight \(2, 2\)"):
        load(model, TABLE, theirs())


def test_names_do_not_depend_on_compiling():
    model, source = ours(), theirs()
    load(torch.compile(model, backend="eager"), TABLE, source)
    assert model["embed"].weight.equal(source["wte.weight"])
