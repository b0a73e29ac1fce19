"""What stands beside a model on the Hub."""

from collections.abc import Mapping, Sequence

from sublayer.models.config import ModelConfig


def card(name: str, library: str, task: str | None, use: str, about: Mapping[str, object], notes: Sequence[str]) -> str:
    """README.md: settings that the Hub reads, how to load the model, what it is made of.

    library, task  as the Hub names them; None: no task there is like it
    use            Python that loads and calls it
    """
    head = [f"library_name: {library}", *([] if task is None else [f"pipeline_tag: {task}"]), "tags: [sublayer]"]
    rows = [f"| {key} | {value} |" for key, value in about.items()]
    return "\n".join(
        [
            *("---", *head, "---", "", f"# {name.rpartition('/')[2]}", ""),
            *("```python", use, "```", ""),
            *("| | |", "|---|---|", *rows, ""),
            *(f"{note}\n" for note in notes),
        ]
    )


def sizes_of(config: ModelConfig) -> dict[str, object]:
    """Layers, heads and vocabularies."""
    layers = {
        "encoder": config.encoder_layers,
        "decoder": config.decoder_layers,
        "encoder-decoder": f"{config.encoder_layers} + {config.decoder_layers}",
    }
    words = [n for n in (config.source_vocab, config.target_vocab) if n is not None]
    return {
        "layers": layers[config.architecture],
        "heads": config.num_heads,
        "tokens": " and ".join(f"{n:,}" for n in dict.fromkeys(words)),
    }
