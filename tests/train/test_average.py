import pytest
import torch

from sublayer.errors import CheckpointError
from sublayer.models.store import save_tensors
from sublayer.train.average import average


def written(folder, **tensors):
    path = folder / f"{len(list(folder.iterdir()))}.safetensors"
    save_tensors({name: torch.tensor(values) for name, values in tensors.items()}, path)
    return path


def test_each_tensor_is_the_mean_of_the_files(tmp_path):
    files = [written(tmp_path, w=[1.0, 2.0], b=[0.0]), written(tmp_path, w=[4.0, 2.0], b=[3.0])]
    files.append(written(tmp_path, w=[1.0, -1.0], b=[0.0]))
    mean = average(files)
    assert mean["w"].tolist() == [2.0, 1.0]
    assert mean["b"].tolist() == [1.0]
    assert mean["w"].dtype == torch.float32


def test_the_sum_loses_no_digits(tmp_path):
    files = [written(tmp_path, w=[float(2**24)])] + [written(tmp_path, w=[1.0]) for _ in range(3)]
    assert average(files)["w"].item() == 2**22 + 1  # (2²⁴ + 3) / 4; a sum in float32 stays at 2²⁴


@pytest.mark.parametrize("other", [{"w": [1.0]}, {"w": [1.0, 2.0], "c": [0.0]}, {"v": [1.0, 2.0]}])
def test_files_of_different_models_are_refused(tmp_path, other):
    first, second = written(tmp_path, w=[1.0, 2.0]), written(tmp_path, **other)
    with pytest.raises(CheckpointError, match=f"{second} holds other tensors than {first}: average checkpoints of one"):
        average([first, second])
