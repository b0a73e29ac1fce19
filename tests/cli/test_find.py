import re

from tests.runs import command, words, write_pairs


def test_what_is_found_is_printed_as_options_of_train(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sublayer.train.find.TRIED", 30)
    write_pairs(tmp_path / "a.tsv", words()[:40])
    (tmp_path / "r.yaml").write_text(
        "data: {train: a.tsv}\nmodel: {d_model: 16, num_heads: 2, encoder_layers: 1, decoder_layers: 1, d_ff: 32}\n",
        encoding="utf-8",
    )
    said = command("find", "r.yaml", "--set", "model.dropout=0")
    assert said.code == 0 and "batches of 512 tokens: " in said.err
    found = re.fullmatch(r"--set train.batch_tokens=(\d+) --set train.learning_rate=([\d.e-]+)\n", said.out)
    assert int(found[1]) >= 512 and 1e-7 < float(found[2]) <= 0.1
    assert {path.name for path in tmp_path.iterdir()} == {"a.tsv", "r.yaml"}


def test_without_data_there_is_nothing_to_try_on():
    said = command("find")
    assert said.code == 2 and "Nothing to try on: name a recipe, or a file of examples with --train." in said.err
