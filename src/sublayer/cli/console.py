"""How a run is shown: a bar on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from sublayer.train.report import Progress as Update

PLAIN_EVERY = 10.0  # seconds between lines where there is no terminal


class Terminal:
    """Listens to a trainer, for the length of a `with`."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.bar = Progress(
            TextColumn("{task.fields[state]}"),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f} %"),
            console=self.console,
            transient=True,
            redirect_stdout=False,
        )
        self.task = self.bar.add_task("train", total=1.0, state="starting", visible=False)
        self.told = 0.0

    def __enter__(self) -> "Terminal":
        if self.console.is_terminal:
            self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.bar.stop()

    def step(self, update: Update) -> None:
        done = update.spent / (update.spent + update.left) if update.left else 1.0
        state = (
            f"step {update.step:,}/{update.steps:,}  loss {update.loss:.3f}  rate {update.rate:.2e}  "
            f"{update.tokens_per_second:,.0f} tokens/s  {update.padding:.0%} padding  "
            f"{_gib(update)}{_clock(update.left)} left"
        )
        if self.console.is_terminal:
            self.bar.update(self.task, completed=done, state=state, visible=True)
        elif time.monotonic() - self.told > PLAIN_EVERY:
            self.told = time.monotonic()
            self.message(state)

    def record(self, line: dict[str, Any]) -> None:
        scores = {k.removeprefix("valid_"): v for k, v in line.items() if k.startswith("valid_")}
        if scores:
            told = "  ".join(f"{name} {value:.4g}" for name, value in scores.items())
            best = " (best)" if line["best_step"] == line["step"] else ""
            self.message(f"validation at step {line['step']:,}: {told}{best}")

    def message(self, text: str) -> None:
        self.console.print(text, markup=False)


def _gib(update: Update) -> str:
    """Memory, and that of the GPU, as far as they are known."""
    held = [f"{update.memory / 2**30:.1f} GiB"] if update.memory else []
    held += [f"{update.gpu / 2**30:.1f} GiB of GPU"] if update.gpu else []
    return "".join(f"{each}  " for each in held)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
