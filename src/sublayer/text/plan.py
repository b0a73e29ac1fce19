"""What a vocabulary is asked to be."""

from dataclasses import dataclass

from tokenizers import normalizers

from sublayer.errors import ConfigError, listing, nearest
from sublayer.text.special import PAD, SPECIALS

NORMALIZATIONS: dict[str, list[normalizers.Normalizer]] = {
    "none": [],
    "nfc": [normalizers.NFC()],
    "nfd": [normalizers.NFD()],
    "nfkc": [normalizers.NFKC()],
    "nfkd": [normalizers.NFKD()],
}


@dataclass(frozen=True)
class Plan:
    """The settings of ``train_tokenizer``. ConfigError lists all that cannot be."""

    vocab_size: int
    min_count: int
    separator: str
    normalization: str

    def __post_init__(self) -> None:
        problems = []
        if self.vocab_size <= len(SPECIALS):
            problems.append(
                f"vocab_size={self.vocab_size} leaves no room beside the {len(SPECIALS)} special tokens: "
                f"write {len(SPECIALS) + 1} or more"
            )
        if self.min_count < 1:
            problems.append(f"min_count={self.min_count} is below 1: write 1 to keep every token")
        if not self.separator:
            problems.append('separator="" separates nothing: kind "char" takes each character')
        if self.separator.startswith(PAD[0]):
            problems.append(f"separator={self.separator!r} begins like {PAD}: choose another character")
        if self.normalization not in NORMALIZATIONS:
            hint = nearest(self.normalization, NORMALIZATIONS)
            problems.append(f"normalization={self.normalization!r} is unknown. {hint}")
        if problems:
            raise ConfigError(listing("This vocabulary cannot be trained:", problems))

    def normalizers(self) -> list[normalizers.Normalizer]:
        return NORMALIZATIONS[self.normalization]
