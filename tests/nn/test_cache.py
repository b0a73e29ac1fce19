import torch

from sublayer.nn import DecoderCache, Fixed, Growing, KeyValue, Preallocated


def kv(length, batch=2):
    return KeyValue(torch.randn(batch, 3, length, 4), torch.randn(batch, 3, length, 5))


def test_growing_appends():
    cache, first, second = Growing(), kv(2), kv(3)
    assert cache.length == 0
    assert cache(lambda: first) is first
    key, value = cache(lambda: second)
    assert key.equal(torch.cat((first.key, second.key), 2))
    assert value.equal(torch.cat((first.value, second.value), 2))
    assert cache.length == 5


def test_preallocated_is_growing_with_room():
    grown, roomy = Growing(), Preallocated()
    rows = torch.tensor([1, 0, 1])
    for turn, length in enumerate((3, 1, 20, 1, 40, 2)):  # past its room twice
        new = kv(length, batch=2 if turn < 3 else 3)
        expected, got = grown(lambda new=new: new), roomy(lambda new=new: new)
        assert got.key.equal(expected.key) and got.value.equal(expected.value)
        assert roomy.length == grown.length
        if turn == 2:
            grown.select(rows)
            roomy.select(rows)


def test_a_step_writes_into_the_room_there_is():
    cache = Preallocated()
    first = cache(lambda: kv(3)).key.data_ptr()
    assert cache(lambda: kv(1)).key.data_ptr() == first


def test_fixed_projects_once():
    cache, calls = Fixed(), []

    def project():
        calls.append(1)
        return kv(4)

    assert cache(project) is cache(project)
    assert len(calls) == 1 and cache.length == 4


def test_select_keeps_repeats_and_reorders_rows():
    for cache in (Growing(), Preallocated(), Fixed()):
        cache.select(torch.tensor([0]))
        held = cache(lambda: kv(3))
        cache.select(torch.tensor([1, 1, 0]))
        assert cache.kv.key.equal(held.key[[1, 1, 0]])
        assert cache.kv.value.equal(held.value[[1, 1, 0]])
        assert cache.length == 3


def test_a_decoders_cache_is_one_a_layer():
    cache = DecoderCache(3)
    memories = {id(memory) for layer in cache.layers for memory in layer[:2]}
    assert len(memories) == 6
    for layer in cache.layers:
        layer.self_attn(lambda: kv(2))
        layer.cross_attn(lambda: kv(7))
    assert cache.length == 2
    cache.select(torch.tensor([1]))
    assert all(memory.kv.key.size(0) == 1 for layer in cache.layers for memory in layer[:2])


def test_rows_that_read_the_same_memory_share_what_is_held_of_it():
    cache, keys, read = DecoderCache(1), kv(2), kv(7)
    [layer] = cache.layers
    layer.self_attn(lambda: keys)
    layer.cross_attn(lambda: read)
    cache.select(torch.tensor([1, 1, 1]), torch.tensor([1]))
    [layer] = cache.layers
    assert layer.self_attn.kv.key.equal(keys.key[[1, 1, 1]])
    assert layer.cross_attn.kv.key.equal(read.key[[1]]) and layer.readers == 3
    cache.select(torch.tensor([2, 0]), torch.tensor([0, 0]))
    assert cache.layers[0].cross_attn.kv.key.equal(read.key[[1, 1]]) and cache.layers[0].readers == 1


def test_caches_of_two_decoders_share_nothing():
    first, second = Growing(), Growing()
    first(lambda: kv(2))
    assert second.length == 0
