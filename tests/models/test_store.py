import os
import struct

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from sublayer.errors import CheckpointError
from sublayer.models import load_weights, save_weights
from sublayer.models.store import place, plain, tied


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_save_and_load_to_the_bit(tiny, path):
    model, other = tiny(), tiny()
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    save_weights(model, path)
    load_weights(other, path)
    state = other.state_dict()
    assert all(tensor.equal(state[name]) for name, tensor in model.state_dict().items())
    assert os.listdir(path.parent) == ["model.safetensors"]


def test_tied_tensors_are_stored_once_under_their_first_name(tiny, path):
    model = tiny(tie="all", source_vocab=11)
    save_weights(model, path)
    names = set(load_file(path))
    assert "source_embed.tokens.weight" in names
    assert not names & {"target_embed.tokens.weight", "project.weight"}
    assert ["source_embed.tokens.weight", "target_embed.tokens.weight", "project.weight"] in tied(model)


def test_names_do_not_depend_on_wrappers(tiny, path):
    model = tiny()
    names = list(model.state_dict())
    compiled = torch.compile(model, backend="eager")
    assert [plain(name) for name in compiled.state_dict()] == names
    assert [plain(f"module._orig_mod.{name}") for name in names] == names
    save_weights(compiled, path)
    load_weights(model, path)
    model.encoder.layers[0].compile(backend="eager")
    inside = nn.ModuleDict({"model": torch.compile(model, backend="eager")})
    assert plain(next(iter(inside.state_dict()))) == f"model.{names[0]}"


def test_a_part_that_is_called_module_keeps_its_name():
    assert plain("encoder.module.weight") == "encoder.module.weight"


def test_views_and_other_types_are_stored_as_they_are(path):
    model = nn.Linear(3, 4).to(torch.bfloat16)
    model.weight.data = torch.randn(3, 4, dtype=torch.bfloat16).T
    save_weights(model, path)
    stored = load_file(path)["weight"]
    assert stored.dtype == torch.bfloat16 and stored.equal(model.weight)


@pytest.mark.parametrize("content", [b"", b"{}", b"\x80\x04.", struct.pack("<Q", 1 << 60), b"not weights " * 9])
def test_what_is_no_safetensors_file_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"model\.safetensors cannot be read as a safetensors file"):
        load_weights(nn.Linear(2, 2), path)


def test_a_missing_file_is_told(path):
    with pytest.raises(CheckpointError, match=r"model\.safetensors cannot be read as a safetensors file"):
        load_weights(nn.Linear(2, 2), path)


def test_a_cut_file_is_refused(tiny, path):
    save_weights(tiny(), path)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_weights(tiny(), path)


def test_a_save_that_fails_leaves_the_old_file(path, monkeypatch):
    model = nn.Linear(2, 2)
    save_weights(model, path)
    before = path.read_bytes()
    monkeypatch.setattr("sublayer.models.files.os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(CheckpointError, match="model.safetensors cannot be written: full"):
        save_weights(nn.Linear(2, 2), path)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_everything_that_does_not_fit_is_told_and_nothing_is_loaded(path):
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))
    before = {name: x.clone() for name, x in model.state_dict().items()}
    state = {"0.weight": torch.zeros(3, 2), "0.bias": torch.zeros(4), "1.wait": torch.zeros(2, 3)}
    save_file(state | {"1.bias": torch.zeros(2)}, path)
    with pytest.raises(CheckpointError) as caught:
        load_weights(model, path)
    assert str(caught.value).splitlines() == [
        f"{path} does not fit the model:",
        "  - shape: 0.bias is (4,), expected (3,)",
        "  - missing: 1.weight (2, 3)",
        "  - not used: 1.wait (2, 3)",
    ]
    assert all(before[name].equal(x) for name, x in model.state_dict().items())


def test_of_a_tied_tensor_either_name_or_both_will_do(tiny):
    model = tiny()
    names = ["target_embed.tokens.weight", "project.weight"]
    rest = {name: x.clone() for name, x in model.state_dict().items() if name not in names}
    for given in (names[:1], names[1:], names):
        new = torch.randn(11, 16)
        place(model, rest | {name: new for name in given}, "here")
        assert model.project.weight.equal(new) and model.target_embed.tokens.weight.equal(new)
    with pytest.raises(CheckpointError, match=r"missing: target_embed\.tokens\.weight = project\.weight \(11, 16\)"):
        place(model, rest, "here")
    different = {names[0]: torch.zeros(11, 16), names[1]: torch.ones(11, 16)}
    with pytest.raises(CheckpointError, match="tied, but different in the file: target_embed.* and project"):
        place(model, rest | different, "here")
