"""From a config to a model: the only reader of a config. Below it there are numbers and parts."""

from functools import partial
from typing import Any

from torch import nn

from sublayer.errors import ConfigError
from sublayer.models.attending import (
    BIASED,
    DISENTANGLED,
    TURNED,
    attention,
    by_layer,
    distances,
    self_attention,
    stack_bias,
)
from sublayer.models.config import ModelConfig, Part
from sublayer.models.decoder import CausalLM
from sublayer.models.encoder import EncoderModel
from sublayer.models.heads import HEADS, EncoderWithHead, MaskedLM, Transform
from sublayer.models.parts import FEEDFORWARDS, NORMS, Factory, factory
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import (
    BagEmbeddings,
    ConvolvedLayer,
    Decoder,
    DecoderLayer,
    DisentangledEncoder,
    Embeddings,
    Encoder,
    EncoderLayer,
    FairseqSinusoidal,
    FeatureEmbeddings,
    Learned,
    ProjectedEmbeddings,
    ScaledLinear,
    Sinusoidal,
    StochasticDepth,
    SublayerConnection,
    WidenedEmbeddings,
    init,
)
from sublayer.nn.connection import Connect

Model = EncoderDecoder | EncoderModel | EncoderWithHead | CausalLM

ADDED: dict[str, Factory] = {"sinusoidal": Sinusoidal, "fairseq": FairseqSinusoidal, "learned": Learned}


def build(config: ModelConfig) -> Model:
    """A model with fresh weights, drawn from torch's global generator.

    `local` and `linear` are kernels of self-attention alone; cross-attention then has the default one. A window makes
    no sense between two sequences.

    ConfigError where a vocabulary size is missing or a part is unknown.
    """
    if config.architecture == "encoder":
        body = EncoderModel(_embed(config, _vocab(config, "source")), _encoder(config))
        model: Model = body if config.head.kind == "none" else EncoderWithHead(body, _head(config))
    elif config.architecture == "decoder":
        embed = _embed(config, _vocab(config, "target"))
        model = CausalLM(embed, _decoder(config, cross=False), _project(config))
    else:
        source, target = (_embed(config, _vocab(config, side), side) for side in ("source", "target"))
        model = EncoderDecoder(source, _encoder(config), target, _decoder(config, cross=True), _project(config))
    init.scaled(model)
    _tie(model, config.tie)
    return model


def _vocab(config: ModelConfig, side: str) -> int:
    size: int | None = getattr(config, f"{side}_vocab")
    if size is None:
        raise ConfigError(f"{side}_vocab is not set: an {config.architecture} model needs the size of its vocabulary.")
    return size


def _norm(config: ModelConfig) -> Factory:
    return factory("model.norm", config.norm, NORMS)


def _embed(config: ModelConfig, vocab: int, side: str = "source") -> nn.Module:
    about, kind = config.embedding, config.position.kind
    width = config.d_model if about.width is None else about.width
    added: nn.Module | None = None
    if kind == "learned":
        added = factory("model.position", config.position, ADDED)(config.max_len, width)
    elif kind == DISENTANGLED and config.position.options.get("absolute"):
        added = Learned(config.max_len, width)
    elif kind not in (*TURNED, *BIASED, DISENTANGLED, "none"):
        added = factory("model.position", config.position, {**ADDED, **TURNED, **BIASED})(width)
    if side == "source" and config.bags:
        return BagEmbeddings(vocab, config.d_model, positions=added, dropout=config.dropout)
    if side == "source" and config.first_feature is not None and added is not None:
        return FeatureEmbeddings(
            vocab, config.d_model, first_feature=config.first_feature, positions=added, dropout=config.dropout
        )
    wider = WidenedEmbeddings if about.widened_first else ProjectedEmbeddings
    make = Embeddings if width == config.d_model else partial(wider, d_model=config.d_model)
    return make(
        vocab,
        width,
        positions=added,
        scale=about.scale,
        token_types=about.token_types,
        norm=_norm(config)(config.d_model if about.widened_first else width) if about.norm else None,
        dropout=config.dropout,
    )


def _ffn(config: ModelConfig) -> nn.Module:
    make = factory("model.ffn", config.ffn, FEEDFORWARDS)
    gated = config.ffn.kind in ("glu", "geglu", "swiglu")
    options: dict[str, Any] = {"bias": config.bias, "dropout": config.dropout}
    options |= {} if gated else {"activation": config.activation}
    made: nn.Module = make(config.d_model, config.d_ff, **(options | config.ffn.options))
    return made


def _encoder(config: ModelConfig) -> Encoder:
    layers = [
        EncoderLayer(
            config.d_model,
            self_attention(part, bidirectional=True),
            _ffn(config),
            config.dropout,
            connect=_connect(config, depth / config.encoder_layers),
        )
        for depth, part in enumerate(by_layer(config), 1)
    ]
    if not config.first_norm:
        layers[0].sublayer_attn.norm = nn.Identity()
    if config.convolution.width:
        beside = config.convolution.model_dump() | {"norm": _norm(config)}
        layers[0] = ConvolvedLayer(config.d_model, layers[0], config.dropout, **beside)
    if (positions := distances(config)) is not None:
        return DisentangledEncoder(layers, _last(config), positions=positions)
    return Encoder(layers, _last(config), bias=stack_bias(config, bidirectional=True))


def _decoder(config: ModelConfig, *, cross: bool) -> Decoder:
    layers = [
        DecoderLayer(
            config.d_model,
            self_attention(config, bidirectional=False),
            _ffn(config),
            config.dropout,
            cross_attn=attention(config, cross=True) if cross else None,
            connect=_connect(config, depth / config.decoder_layers),
        )
        for depth in range(1, config.decoder_layers + 1)
    ]
    return Decoder(layers, _last(config), bias=stack_bias(config, bidirectional=False))


def _connect(config: ModelConfig, depth: float) -> Connect:
    """`depth` is 1 for the last layer. The deeper, the more is skipped: Huang et al. 2016, section 3."""
    about: dict[str, Any] = {"norm": _norm(config), "norm_first": config.norm_first}
    if config.layer_drop:
        return partial(StochasticDepth, skip=depth * config.layer_drop, **about)
    return partial(SublayerConnection, **about)


def _last(config: ModelConfig) -> nn.Module | None:
    """A pre-norm stack ends in a norm; in a post-norm one the last sublayer has just applied it."""
    made: nn.Module | None = _norm(config)(config.d_model) if config.norm_first else None
    return made


def _head(config: ModelConfig) -> nn.Module:
    make, transform = factory("model.head", config.head, HEADS), config.head.options.get("transform")
    if config.head.kind == "masked-lm":
        about = {"width": config.embedding.width, "activation": config.activation, "norm": _norm(config)}
        made: nn.Module = make(config.d_model, _vocab(config, "source"), **(about | config.head.options))
    elif transform is not None:
        between = factory("model.head.transform", Part(kind="transform", **transform), {"transform": Transform})
        made = make(config.d_model, transform=between(config.d_model, norm=_norm(config)))
    else:
        made = make(config.d_model)
    return made


def _project(config: ModelConfig) -> nn.Linear:
    bias = config.tie in ("none", "inputs") if config.output_bias is None else config.output_bias
    make = partial(ScaledLinear, scale=config.d_model**-0.5) if config.output_scaled else nn.Linear
    return make(config.d_model, _vocab(config, "target"), bias=bias)


def _tie(model: Model, tie: str) -> None:
    if tie == "none" or isinstance(model, EncoderModel):
        return
    if isinstance(model, EncoderWithHead):
        if isinstance(model.head, MaskedLM):
            assert isinstance(model.body.embed, Embeddings)
            model.head.project.weight = model.body.embed.tokens.weight
        return
    target = model.embed if isinstance(model, CausalLM) else model.target_embed
    assert isinstance(target, Embeddings) and isinstance(model.project, nn.Linear)
    if tie != "inputs":
        model.project.weight = target.tokens.weight
    if tie in ("all", "inputs") and isinstance(model, EncoderDecoder):
        assert isinstance(model.source_embed, Embeddings | FeatureEmbeddings)
        model.source_embed.tokens.weight = target.tokens.weight
