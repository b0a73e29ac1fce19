"""The border to the Hub: an object in the place of `huggingface_hub.HfApi`."""

from pathlib import Path

import pytest
from tests.runs import reverse_task

import sublayer
from sublayer.errors import ConfigError


class Hub:
    """Keeps what it is sent."""

    def __init__(self, error=None):
        self.error, self.made, self.files = error, None, {}

    def create_repo(self, *, repo_id, private, exist_ok):
        self.made = (repo_id, private, exist_ok)

    def upload_folder(self, *, repo_id, folder_path, commit_message):
        if self.error is not None:
            raise self.error
        self.files = {path.name: path.read_bytes() for path in Path(folder_path).iterdir()}
        return f"there/{repo_id}"


def test_a_published_model_is_sent_with_its_card(published):
    hub = Hub()
    assert sublayer.from_pretrained(published()).push_to_hub("me/mine", private=True, api=hub) == "there/me/mine"
    assert hub.made == ("me/mine", True, True)
    assert {"README.md", "config.json", "model.safetensors"} <= hub.files.keys()
    card = hub.files["README.md"].decode()
    assert card.startswith(
        "---\nlibrary_name: transformers\npipeline_tag: fill-mask\ntags: [sublayer]\n---\n\n# mine\n"
    )
    assert 'sublayer.from_pretrained("me/mine").model' in card and "| architecture | BertForMaskedLM |" in card
    assert "| layers | 1 |" in card and "| tokens | 7 |" in card


def test_a_run_is_sent_whole(tmp_path):
    hub = Hub()
    reverse_task().push_to_hub("me/turned", api=hub)
    card = hub.files.pop("README.md").decode()
    assert "library_name: sublayer" in card and "| layers | 1 + 1 |" in card and "source: char" in card
    for name, held in hub.files.items():
        (tmp_path / name).write_bytes(held)
    assert next(sublayer.load(tmp_path).predict(["abc"]))[0].text == next(reverse_task().predict(["abc"]))[0].text


def test_a_refusal_is_told():
    with pytest.raises(ConfigError, match="me/turned cannot be sent: no such token"):
        reverse_task().push_to_hub("me/turned", api=Hub(ValueError("no such token\nand more")))
