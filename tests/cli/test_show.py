from tests.runs import command, reverse_run, words, write_pairs


def test_a_run_and_its_recipe_have_the_same_shapes():
    run = reverse_run()
    of_run, of_recipe = (command("show", what) for what in (run, run / "recipe.yaml"))
    assert of_run.code == of_recipe.code == 0
    assert of_run.out == of_recipe.out and of_run.out.startswith("source: char, 9 tokens")


def test_a_recipe_that_leaves_sizes_open_is_shown_as_it_would_be(tmp_path):
    write_pairs(tmp_path / "a.tsv", words()[:30])
    (tmp_path / "r.yaml").write_text(f"data: {{train: {tmp_path / 'a.tsv'}}}\n", encoding="utf-8")
    said = command("show", tmp_path / "r.yaml")
    assert "encoder.layers.1.self_attn" in said.out and "encoder.layers.2" not in said.out
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_text_goes_through_with_its_answer():
    said = command("show", reverse_run(), "--text", "abcd")
    assert "1 × 2 × 5 × 5" in said.out  # four letters and the end, 2 heads


def test_what_is_neither_is_told(tmp_path):
    said = command("show", tmp_path / "nowhere")
    assert said.code == 2 and "nowhere cannot be read as a recipe: No such file or directory" in said.err
    assert command("show", tmp_path).code == 2
