"""Small random models of transformers, saved as published ones are."""

import torch
import transformers
from safetensors.torch import load_file

from sublayer.interop.pretrained import from_pretrained

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

LENGTHS = (7, 4, 1)


def save(architecture, config, folder, perturb):
    """A perturbed model of theirs in a folder, and as they read it from there, in eval mode."""
    torch.manual_seed(1)
    perturb(getattr(transformers, architecture)(config)).save_pretrained(folder)
    return loads(architecture, folder)


def batch(vocab, ragged, *, pad=0):
    """Random ids (3, 7), padded, and which of them are real. Real ones are no special tokens."""
    ids, keep = torch.randint(3, vocab, (len(LENGTHS), max(LENGTHS))), ragged(LENGTHS)
    return ids.masked_fill(~keep, pad), keep


def comes_back(folder, again):
    """From their folder to ours and back: the same tensors to the bit, and nothing to add or to leave out for them."""
    ours = from_pretrained(folder)
    ours.save_pretrained(again)
    before, after = load_file(folder / "model.safetensors"), load_file(again / "model.safetensors")
    assert before.keys() - set(ours.left_out) == after.keys()
    assert all(after[name].equal(before[name]) for name in after)
    return ours


def loads(architecture, folder):
    """Their model from a folder that we wrote."""
    made, about = getattr(transformers, architecture).from_pretrained(folder, output_loading_info=True)
    assert not any(about.values()), about
    return made.eval()
