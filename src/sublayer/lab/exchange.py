"""What passes between tokens, and what does not."""

import torch
from torch import Tensor, nn

from sublayer.lab.claim import Bench, Measured
from sublayer.lab.small import Alone, perturb
from sublayer.nn import (
    Embeddings,
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Learned,
    MultiHeadAttention,
    RelativeBias,
    Rotary,
    Sinusoidal,
    SwiGLU,
    attention,
)


def _stack(attn: type[nn.Module], d_model: int, layers: int) -> Encoder:
    make = (EncoderLayer(d_model, attn(d_model, 2), FeedForward(d_model)) for _ in range(layers))
    return perturb(Encoder(make, LayerNorm(d_model)).eval())


def _blocks(f: nn.Module, x: Tensor) -> Tensor:
    """(T, T): the norm of ∂ output i / ∂ input j, for x (1, T, D)."""
    jacobian = torch.autograd.functional.jacobian(f, x, vectorize=True)[0, :, :, 0]  # (T, D, T, D)
    return torch.linalg.vector_norm(jacobian, dim=(1, 3))


def only_attention(seed: int, bench: Bench) -> Measured:
    tokens, d_model = bench.choose(4, 8, 16), bench.choose(8, 16, 32)
    x = torch.randn(1, tokens, d_model)
    norms = {
        "with attention": _blocks(_stack(MultiHeadAttention, d_model, 2), x),
        "without": _blocks(_stack(Alone, d_model, 2), x),
    }
    others = ~torch.eye(tokens, dtype=torch.bool)
    curves = {name: [(k, float(norm.diagonal(-k).mean())) for k in range(tokens)] for name, norm in norms.items()}
    numbers = {
        "exchanged without": float(norms["without"][others].max()),
        "exchanged with": float(norms["with attention"][others].min()),
    }
    return Measured(numbers, curves)


def position_wise(seed: int, bench: Bench) -> Measured:
    tokens, d_model = 8, bench.choose(8, 32, 128)
    parts = {
        "feed-forward": FeedForward(d_model),
        "SwiGLU": SwiGLU(d_model),
        "LayerNorm": LayerNorm(d_model),
        "attention": nn.Module(),
    }
    attn = perturb(MultiHeadAttention(d_model, 2).eval())
    parts["attention"].forward = lambda x: attn(x, x, x)
    x = torch.randn(4, tokens, d_model)
    other = x.clone()
    other[:, 0] = torch.randn(4, d_model)
    moved, leaked = {}, {}
    for name, part in parts.items():
        change = (perturb(part.eval())(x) - part(other)).detach().norm(dim=-1)
        moved[name], leaked[name] = float(change[:, 0].mean()), float(change[:, 1:].max())
    numbers = {
        "leaked": max(leaked[name] for name in parts if name != "attention"),
        "leaked by attention": leaked["attention"],
    }
    return Measured(numbers, {"the token that changed": [*moved.items()], "the others": [*leaked.items()]})


def equivariant(seed: int, bench: Bench) -> Measured:
    tokens, d_model, vocab = bench.choose(6, 16, 64), bench.choose(8, 32, 128), 50
    ids, order = torch.randint(vocab, (3, tokens)), torch.randperm(tokens)
    positions = {"none": None, "sinusoidal": Sinusoidal(d_model), "learned": Learned(tokens, d_model)}
    moved, shaped = {}, []
    for name in (*positions, "rotary", "relative"):
        rotate = Rotary(d_model // 2) if name == "rotary" else None
        bias = RelativeBias(2) if name == "relative" else None
        layers = [
            EncoderLayer(d_model, MultiHeadAttention(d_model, 2, rotate=rotate), FeedForward(d_model)) for _ in range(2)
        ]
        encoder = perturb(Encoder(layers, LayerNorm(d_model), bias=bias).eval())
        embed = perturb(Embeddings(vocab, d_model, positions=positions.get(name)).eval())
        x = embed(ids)
        y = encoder(x)
        shaped.append(y.shape == x.shape)
        shuffled = encoder(embed(ids[:, order]))
        moved[name] = float(((shuffled - y[:, order]).norm() / y.norm()).detach())
    numbers = {
        "shapes kept": float(all(shaped)),
        "moved without positions": moved["none"],
        "least moved with positions": min(value for name, value in moved.items() if name != "none"),
    }
    return Measured(numbers, {"": [*moved.items()]})


def convex_hull(seed: int, bench: Bench) -> Measured:
    tokens, d_model, directions = 16, bench.choose(8, 32, 64), bench.choose(64, 1024, 4096)
    q, k, v = torch.randn(3, 8, 1, tokens, d_model)
    ways = torch.nn.functional.normalize(torch.randn(directions, d_model), dim=-1)

    def outside(y: Tensor, hull: Tensor) -> Tensor:
        """How far y (B, T, D) goes beyond all of the hull's points (B, S, D) in any of the directions."""
        return ((y @ ways.T) - (hull @ ways.T).amax(1, keepdim=True)).amax().clamp(min=0).detach()

    head = attention(q, k, v)[0][:, 0]
    x = q[:, 0]
    module = perturb(MultiHeadAttention(d_model, 4).eval())
    ffn = perturb(FeedForward(d_model).eval())
    beyond = {
        "a head, of its values": outside(head, v[:, 0]),
        "the module, of its inputs": outside(module(x, x, x), x),
        "feed-forward, of its inputs": outside(ffn(head), head),
    }
    numbers = {
        "head": float(beyond["a head, of its values"]),
        "module": float(beyond["the module, of its inputs"]),
        "ffn": float(beyond["feed-forward, of its inputs"]),
    }
    return Measured(numbers, {"": [(name, float(value)) for name, value in beyond.items()]})
