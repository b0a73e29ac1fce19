"""A tiny run of each task but translation, which has files of its own: its data, its recipe, and lines to answer."""

from sublayer.tasks.recipe_file import make_recipe

TEXTS = ["a b", "c d e f", "b", "f e d c b a", "d d", "a c e"]
ENCODER = dict(d_model=16, num_heads=2, encoder_layers=2, dropout=0.1)
WRITER = dict(d_model=16, num_heads=2, decoder_layers=2, dropout=0.1)
PAIR = ENCODER | WRITER | {"architecture": "encoder-decoder"}


def _lines(write):
    return "".join(write(text, TEXTS[i - 1], "xy"[i % 2]) for i, text in enumerate(TEXTS))


# by name: the task, what a file holds, the model
EVERY = {
    "classify": ("classify", _lines(lambda text, _, label: f"{text}\t{label}\n"), ENCODER),
    "classify pairs": ("classify", _lines(lambda text, other, label: f"{text}\t{other}\t{label}\n"), ENCODER),
    "tag": ("tag", _lines(lambda text, *_: "".join(f"{w}\t{w < 'd'}\n" for w in text.split()) + "\n"), ENCODER),
    "embed": ("embed", _lines(lambda text, other, label: f"{text}\t{other}\t{'xy'.index(label)}\n"), ENCODER),
    "answer": ("answer", _lines(lambda text, *_: f"a\t{text}\t{text[-1]}\t{len(text) - 1}\n"), ENCODER),
    "complete": ("complete", _lines(lambda text, *_: f"{text}\n"), WRITER),
    "fill": ("fill", _lines(lambda text, *_: f"{text}\n"), ENCODER),
    "fill spans": ("fill", _lines(lambda text, *_: f"{text} a\n"), PAIR),
}


def recipe(name, folder, **train):
    task, held, model = EVERY[name]
    for file in ("train", "valid"):
        (folder / f"{file}.txt").write_text(held, encoding="utf-8", newline="\n")
    data = {file: str(folder / f"{file}.txt") for file in ("train", "valid")}
    steps = dict(steps=6, batch_tokens=16, warmup=0, schedule="constant", validate_every=3, save_every=3, log_every=1)
    steps |= {"context": 4} if task == "complete" else {}
    text = {} if task == "complete" else {"text": {"kind": "word"}}
    return make_recipe({"task": task, "data": data, "model": model, "train": steps | train} | text, origin="a test")
