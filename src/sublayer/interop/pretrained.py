"""Published checkpoints: from a Hugging Face folder to a model and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sublayer.errors import CheckpointError, nearest
from sublayer.interop.card import card, sizes_of
from sublayer.interop.catalogue import FAMILIES
from sublayer.interop.family import Family, Head
from sublayer.interop.folder import SAFE, read_tensors
from sublayer.interop.hub import folder_of, push
from sublayer.interop.rule import invert, load
from sublayer.interop.sentence import longest_text, sentence_head, write_modules
from sublayer.models.build import Model
from sublayer.models.config import ModelConfig
from sublayer.models.files import read_json, write_json
from sublayer.models.outline import outline
from sublayer.models.store import plain, save_tensors, tied
from sublayer.text import PretrainedTokenizer
from sublayer.text.published import WRITES, read_target_tokenizer, read_tokenizer

WRITING = "generation_config.json"


@dataclass(frozen=True)
class Pretrained:
    """A model as it was published, with what is needed to use it and to write it back.

    tokenizer  None where the folder holds none that can be read
    theirs     config.json as it came
    left_out   their tensors that the model has no place for: heads of other tasks
    writing    generation_config.json as it came: what an answer begins and ends with, among others
    longest    tokens of a text, specials counted, that vectors of texts were learned from; None: as many as it can read
    target_tokenizer  for what the model writes, where it has two, as Marian has
    """

    model: Model
    config: ModelConfig
    tokenizer: PretrainedTokenizer | None
    family: Family
    head: Head
    theirs: Mapping[str, Any]
    left_out: tuple[str, ...]
    writing: Mapping[str, Any] = field(default_factory=dict)
    longest: int | None = None
    target_tokenizer: PretrainedTokenizer | None = None

    def save_pretrained(self, folder: str | Path) -> None:
        """config.json, model.safetensors and the tokenizer, as transformers reads them. Tied tensors stand there once.

        ConfigError where the model has become one that such a folder cannot describe.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        architecture = self.family.architecture(self.head)
        settings = self.family.settings(self.config, self.head, self.theirs) | {"architectures": [architecture]}
        state = {plain(name): x for name, x in self.model.state_dict().items()}
        once = {names[0]: state[names[0]] for names in tied(self.model)}
        tensors = invert(self.family.table(self.head, self.config), once)
        if architecture == self.family.base:
            tensors = self.family.bare(tensors)
        save_tensors(tensors, folder / SAFE, {"format": "pt"})
        write_json(folder / "config.json", settings)
        if self.writing:
            write_json(folder / WRITING, dict(self.writing))
        write_modules(folder, self.config, self.longest)
        if self.tokenizer is not None:
            self.tokenizer.save_pretrained(folder)
        if self.target_tokenizer is not None:
            self.target_tokenizer.save(folder / WRITES)

    def push_to_hub(self, name: str, *, private: bool = False, api: Any = None) -> str:
        """`save_pretrained` to the Hub, with a model card; where it stands then. See `push` for `api` and errors."""
        architecture = self.family.architecture(self.head)
        use = f'import sublayer\n\nmodel = sublayer.from_pretrained("{name}").model'
        about = {"architecture": architecture, "width": self.config.d_model} | sizes_of(self.config)
        notes = ["`transformers` loads it too, as any model of its own."]
        text = card(name, "transformers", TASK_OF.get(architecture.partition("For")[2]), use, about, notes)
        return push(name, self.save_pretrained, text, private=private, api=api)


TASK_OF = {
    "SequenceClassification": "text-classification",
    "TokenClassification": "token-classification",
    "MaskedLM": "fill-mask",
    "QuestionAnswering": "question-answering",
    "CausalLM": "text-generation",
}
"""What the Hub calls the job of an architecture that ends so."""


def from_pretrained(folder_or_name: str | Path, revision: str | None = None) -> Pretrained:
    """The model of a Hugging Face folder, in eval mode and in the type that its numbers are stored in.

    folder_or_name  a folder; for anything else, the name of one on the Hub (extra `hf`)
    revision        branch, tag or commit, of a name

    Code in the folder is never run. CheckpointError names every tensor that is missing, left over or misshapen, and
    every setting that has no counterpart here.
    """
    folder = folder_of(folder_or_name, revision)
    theirs = read_json(folder / "config.json")
    family = _family(theirs)
    architecture = (theirs.get("architectures") or [family.base or next(iter(family.heads))])[0]
    tensors = family.named(read_tensors(folder))
    head = (sentence_head(folder) or family.head(architecture)).chosen(tensors)
    config = family.config(theirs, head)
    model = outline(config)
    table = family.table(head, config)
    load(model, table, tensors, str(folder))
    left_out = tuple(sorted(tensors.keys() - table.needed(tensors).keys()))
    writing = read_json(folder / WRITING) if (folder / WRITING).is_file() else {}
    return Pretrained(
        model.eval(),
        config,
        read_tokenizer(folder),
        family,
        head,
        theirs,
        left_out,
        writing,
        longest_text(folder),
        read_target_tokenizer(folder),
    )


def _family(theirs: Mapping[str, Any]) -> Family:
    kind = theirs.get("model_type")
    alike = [family for family in FAMILIES if family.model_type == kind]
    if not alike:
        known = {family.model_type for family in FAMILIES}
        raise CheckpointError(f"config.json says model_type {kind!r}. {nearest(str(kind), known)}")
    return next((family for family in alike if not family.lacking(theirs)), alike[0])
