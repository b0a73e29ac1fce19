"""What a model looks at."""

import torch

from sublayer.data import Pair
from sublayer.inspect import AttentionPicture, attention_maps
from sublayer.nn import Mask
from sublayer.tasks.translate import Translate


@torch.inference_mode()
def picture(task: Translate, source: str, target: str | None = None) -> AttentionPicture:
    """Attention over one pair: encoder, decoder and cross. Without a target, the model's own answer."""
    if target is None:
        target = next(task.predict([source]))[0].text
    batch = task.batch(task.encode_pairs([Pair(source, target, 1)]))
    task.model.eval()
    with attention_maps(task.model) as maps:
        task.model(batch.source, batch.target_in, None, Mask(causal=True))
    read = [*task.source.tokens(source), "</s>"]
    said = [*task.target.tokens(target), "</s>"]
    return AttentionPicture(
        {kind: [layer[0] for layer in getattr(maps, kind)] for kind in ("cross", "encoder", "decoder")},
        rows={"encoder": read, "decoder": said, "cross": said},
        columns={"encoder": read, "decoder": ["<s>", *said[:-1]], "cross": read},
        title=f"{source} → {target}",
    )
