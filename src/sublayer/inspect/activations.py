"""Activations by name: read while a model runs, or replaced by others."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError, ShapeError, listing, nearest
from sublayer.inspect.attention import Spelled, is_exact, kernels
from sublayer.nn import MultiHeadAttention

INPUT, WEIGHTS = ".input", ".weights"

Change = Tensor | Callable[[Tensor], Tensor]
See = Callable[[Tensor], Tensor | None]


class Activations(Mapping[str, Tensor]):
    """What stood at each place. They carry a gradient where the model ran with one.

    calls  place -> what each call brought, in their order
    """

    def __init__(self, places: tuple[str, ...]) -> None:
        self.calls: dict[str, list[Tensor]] = {place: [] for place in places}

    def __getitem__(self, place: str) -> Tensor:
        """ShapeError for a place that was passed several times: `calls` has them all."""
        if len(self.calls[place]) != 1:
            raise ShapeError(f"{place} was passed {len(self.calls[place])} times, not once: read calls[{place!r}].")
        return self.calls[place][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)


def places(model: nn.Module) -> list[str]:
    """The names of all that can be read and replaced, in the model's order.

    NAME          what the module of that name gives
    NAME.input    what it is called with first: of `….self_attn.out_proj` the heads side by side, (B, T, H · d_v)
    NAME.weights  the weights (B, H, T, S) of an attention, before dropout
    """
    found = []
    for name, module in model.named_modules():
        if name:
            found += [name, name + INPUT, *([name + WEIGHTS] if isinstance(module, MultiHeadAttention) else [])]
    return found


@contextmanager
def activations(model: nn.Module, *names: str) -> Iterator[Activations]:
    """Read what stands at these `places` while the model runs inside the `with`. Afterwards the model is as before.

    ConfigError for unknown places, and at the end for one that was not passed.
    """
    seen = Activations(names)

    def read(name: str, x: Tensor) -> None:
        seen.calls[name].append(x)

    with _tapped(model, {name: partial(read, name) for name in names}):
        yield seen


@contextmanager
def replaced(model: nn.Module, changes: Mapping[str, Change]) -> Iterator[None]:
    """Let something else stand at these `places` inside the `with`: a tensor, or a function of what is there.

    ShapeError where what is put there has another shape; ConfigError as of `activations`.
    """
    with _tapped(model, {name: partial(_changed, name, change) for name, change in changes.items()}):
        yield


def patch_effects(
    model: nn.Module,
    clean: tuple[Any, ...],
    corrupted: tuple[Any, ...],
    names: list[str],
    score: Callable[[Any], Tensor],
    *,
    at: Any = ...,
) -> dict[str, float]:
    """How far each place alone, put from the clean run into the corrupted one, brings the score back:

        (score(patched) - score(corrupted)) / (score(clean) - score(corrupted))        Meng et al. 2022, section 2.1

    1 is all the way, 0 nothing. `at` says which part of the activation is put in: `np.s_[:, 3]` is position 3.
    ConfigError where both runs score the same.
    """
    with torch.no_grad():
        with activations(model, *names) as seen:
            best = float(score(model(*clean)))
        worst = float(score(model(*corrupted)))
        if best == worst:
            raise ConfigError(f"The clean and the corrupted run both score {best:g}: there is no way back to measure.")
        effects = {}
        for name in names:
            with replaced(model, {name: partial(_put, at, seen[name])}):
                effects[name] = (float(score(model(*corrupted))) - worst) / (best - worst)
    return effects


def _put(at: Any, ours: Tensor, theirs: Tensor) -> Tensor:
    if ours.shape != theirs.shape:
        raise ShapeError(
            f"the clean run brings {tuple(ours.shape)} and the corrupted one {tuple(theirs.shape)}: give both runs "
            "inputs of one shape."
        )
    mixed = theirs.clone()
    mixed[at] = ours[at]
    return mixed


def _changed(name: str, change: Change, x: Tensor) -> Tensor:
    new = change if isinstance(change, Tensor) else change(x)
    if new.shape != x.shape:
        raise ShapeError(f"{name} has shape {tuple(x.shape)}, and what is put there {tuple(new.shape)}.")
    return new


@contextmanager
def _tapped(model: nn.Module, sees: Mapping[str, See]) -> Iterator[None]:
    known = places(model)
    if unknown := [f"{name}: {nearest(name, known)}" for name in sees if name not in known]:
        raise ConfigError(listing("There are no such places:", unknown))
    passed: set[str] = set()

    def told(name: str, x: Any) -> Tensor | None:
        passed.add(name)
        return sees[name](x) if isinstance(x, Tensor) else None

    modules = dict(model.named_modules())
    with ExitStack() as hooks:
        for name in sees:
            _tap(hooks, modules, name, partial(told, name))
        yield
    if silent := [name for name in sees if name not in passed]:
        raise ConfigError(listing("Inside the with nothing passed these places (an inference form has none):", silent))


def _tap(hooks: ExitStack, modules: Mapping[str, nn.Module], name: str, see: Callable[[Any], Tensor | None]) -> None:
    if name in modules:
        hooks.callback(modules[name].register_forward_hook(lambda _, args, output: see(output)).remove)
    elif name.endswith(INPUT):
        hooks.callback(modules[name.removesuffix(INPUT)].register_forward_pre_hook(partial(_input, see)).remove)
    else:
        attention = modules[name.removesuffix(WEIGHTS)]
        assert isinstance(attention, MultiHeadAttention)
        if not is_exact(attention.kernel):
            kind = type(attention.kernel).__name__
            raise ConfigError(f"{name}: weights are those of Eager, Fused or Local attention, and here is {kind}.")
        hooks.enter_context(kernels({attention: Spelled(attention.kernel, see)}))


def _input(see: Callable[[Any], Tensor | None], module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    new = see(args[0]) if args else None
    return None if new is None else (new, *args[1:])
