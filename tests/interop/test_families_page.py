"""The table of families in the pages says what the code reads, and the tests of parity have a case of each."""

import re
from pathlib import Path

import pytest
from tests.parity.test_encoders import CASES, TWIN

from sublayer.interop.catalogue import FAMILIES

PAGES = {"en": ("the same", ", "), "zh": ("同上", "、")}
KINDS = {
    "states with pooler": {"none", "pooler"},
    "states": {"none"},
    "masked LM": {"masked-lm"},
    "generator": {"masked-lm"},
    "discriminator": {"replaced"},
    "classes": {"classes"},
    "token classes": {"token-classes"},
    "span": {"span"},
    "language model": {"decoder"},
    "encoder-decoder": {"encoder-decoder"},
}
ZH = dict(
    zip(
        "带 pooler 的状态,状态,掩码语言模型,生成器,判别器,分类,词元分类,答案起止,语言模型,编码器-解码器".split(","),
        KINDS,
        strict=True,
    )
)


def table(language):
    """What each model type is read as, by the page."""
    page = (Path(__file__).parents[2] / "docs" / language / "checkpoints.md").read_text("utf-8")
    same, between = PAGES[language]
    lines = (
        page[page.index("| `model_type` |") :].split("\n\n")[0].splitlines()[2:-1]
    )  # the last is of folders of these
    found, said = {}, ""
    for line in lines:
        types, read, _ = (re.sub(r" ?[(（].*?[)）]", "", cell).strip() for cell in line.strip("|").split("|"))
        said = said if read == same else read
        found |= dict.fromkeys(types.split(between), said.split(between))
    return found


@pytest.mark.parametrize("language", PAGES)
def test_every_family_stands_there_with_the_heads_that_it_has(language):
    told = {}
    for name, words in table(language).items():
        told[name] = set().union(*(KINDS[word if language == "en" else ZH[word]] for word in words))
    held = {}
    for family in FAMILIES:
        heads = [each for head in family.heads.values() for each in (head, head.otherwise) if each is not None]
        kinds = {head.fixed.get("head.kind", "none") for head in heads}
        architecture = family.fixed["architecture"]
        held[family.model_type] = kinds if architecture == "encoder" else {architecture}
    assert told == held


def test_every_head_of_an_encoder_has_a_case():
    encoders = {name for family in FAMILIES if family.fixed["architecture"] == "encoder" for name in family.heads}
    assert {family + kind for family, kind in CASES} == {
        name for name in encoders if not name.startswith(TWIN) or name.endswith("ForMaskedLM")
    }
