"""skcw train: from a corpus to a model in a file."""

import gzip
import json
import os
import re

import numpy as np
import pytest

import skcw
from skcw.io import read_columns
from skcw.metrics import span_f1_score


def test_the_model_predicts_what_the_table_says(run, files, tmp_path):
    code, out, err = run(
        "train", files / "train.conll", "-o", tmp_path / "m.skcw", "--json"
    )
    assert code == 0
    result = json.loads(out)
    X, y = read_columns(files / "train.conll").split_label()
    pipeline = skcw.load(tmp_path / "m.skcw")
    assert result["sentences"] == len(X) and result["words"] == X.n_tokens
    assert result["labels"] == len(pipeline.classes_)
    assert result["features"] == len(pipeline[0].vocabulary_)
    assert result["passes"] == 10
    assert result["span_f1"] == span_f1_score(y, pipeline.predict(X))
    assert err.count("pass ") == 10 and err.count(" sequences, ") == 10


def test_the_table_names_every_figure(run, files, tmp_path):
    code, out, _ = run(
        "train", files / "train.conll", "-o", tmp_path / "m", "--passes", 2
    )
    assert code == 0
    for title in ("sentences", "words", "labels", "features", "passes", "seconds"):
        assert f"\n{title} " in out
    assert "span F1 on the training data" in out and "--dev FILE gives fair" in out
    stages = r"\(starting [\d.]+, reading [\d.]+, features [\d.]+, training [\d.]+\)"
    assert re.search(r"\nseconds in all +[\d.]+ " + stages, out)


def test_sentences_that_break_the_scheme_are_told(run, tmp_path):
    right = "Ann B-P\nLee I-P\nsaw O\n\n"
    (tmp_path / "c").write_text(right * 999 + "Ann I-P\nsaw O\n\n")
    command = ["train", tmp_path / "c", "-o", tmp_path / "m", "--passes", 1]
    err = run(*command, "--model", "perceptron")[2]
    assert "sentences that break the scheme BIO: 1 of 1000; they are learned" in err
    # Here they are repaired.
    err = run(*command, "--model", "perceptron", "--scheme", "IOB2")[2]
    assert "break the scheme" not in err
    line = 4 * 999 + 1
    told = f"line {line}: sentence 999, token 0, I-P at the beginning, read as B-P"
    assert f"labels repaired: 1, sentences: 1; first: {tmp_path / 'c'}, {told}" in err


def test_quiet_means_not_a_word_of_progress(run, files, tmp_path):
    _, _, err = run("train", files / "train.conll", "-o", tmp_path / "m", "-q")
    assert err == ""


def test_the_dev_file_judges_each_pass_and_the_result(run, files, tmp_path):
    code, out, err = run(
        "train", files / "train.conll", "-o", tmp_path / "m", "--json",
        "--dev", files / "test.conll", "--passes", 3,
    )  # fmt: skip
    result = json.loads(out)
    X, y = read_columns(files / "test.conll").split_label()
    labels = skcw.load(tmp_path / "m").predict(X)
    assert code == 0 and result["judged_on"] == "dev"
    assert result["span_f1"] == span_f1_score(y, labels)
    shares = [float(text) for text in re.findall(r", dev span F1 (.*?)%,", err)]
    scores = [100 * record["dev_score"] for record in result["history"]]
    # Two decimals are printed.
    assert shares == pytest.approx(scores, abs=6e-3) and len(shares) == 3
    assert result["pass_kept"] == 1 + int(np.argmax(scores))
    assert {record["dev_metric"] for record in result["history"]} == {"span F1"}
    assert max(scores) == pytest.approx(100 * result["span_f1"], rel=1e-12)


def test_weights_are_saved_in_half_precision_if_asked(run, files, tmp_path):
    for name, option in (("whole", []), ("half", ["--half"])):
        args = ["-o", tmp_path / name, "--passes", 2, *option]
        code, _, _ = run("train", files / "train.conll", *args)
        assert code == 0
    sizes = [(tmp_path / name).stat().st_size for name in ("whole", "half")]
    assert sizes[1] < sizes[0]
    X, _ = read_columns(files / "test.conll").split_label()
    whole, half = (skcw.load(tmp_path / name).predict(X) for name in ("whole", "half"))
    assert skcw.metrics.token_accuracy_score(whole, half) > 0.99


def test_all_weights_are_saved_if_asked(run, files, tmp_path):
    for name, option in (("touched", []), ("all", ["--mapped"])):
        args = ["-o", tmp_path / name, "--passes", 2, *option]
        assert run("train", files / "train.conll", *args)[0] == 0
    sizes = [(tmp_path / name).stat().st_size for name in ("touched", "all")]
    assert sizes[0] < sizes[1]
    touched, every = (skcw.load(tmp_path / name) for name in ("touched", "all"))
    assert np.array_equal(touched.tagger.coef_, every.tagger.coef_)


def test_the_pass_kept_is_told_for_each_model(run, files, tmp_path):
    args = ["--dev", files / "test.conll", "--passes", 3, "--models", 2]
    _, out, err = run("train", files / "train.conll", "-o", tmp_path / "m", *args)
    assert re.search(r"\npass kept +[123], [123] of 3\n", out)
    assert "--dev" not in out
    assert err.startswith("model 1, pass 1/3: ")


def test_a_crf_keeps_its_last_pass_and_tells_in_the_same_words(run, files, tmp_path):
    args = ["--dev", files / "test.conll", "--passes", 3, "--model", "crf"]
    _, out, err = run("train", files / "train.conll", "-o", tmp_path / "m", *args)
    assert "pass kept" not in out
    assert re.match(r"pass 1, .*dev accuracy \d+\.\d\d%, \d+\.\d\d s\n", err)


@pytest.mark.parametrize("model", ["cw", "arow", "pa", "perceptron", "crf"])
def test_every_learner_trains(run, files, tmp_path, model):
    code, out, _ = run(
        "train", files / "train.conll", "-o", tmp_path / "m", "--model", model,
        "--passes", 2, "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["learner"] == type(skcw.load(tmp_path / "m").tagger).__name__


def test_options_reach_learner_and_features(run, files, tmp_path):
    towns = tmp_path / "towns.txt"
    towns.write_text("Madrid\nRome\n")
    run(
        "train", files / "train.conll", "-o", tmp_path / "m", "-q", "--passes", 2,
        "--models", 2, "--set", "phi=0.5", "--set", "constraints=BIO", "--seed", 7,
        "--min-count", 2, "--lexicon", f"towns={towns}",
    )  # fmt: skip
    pipeline = skcw.load(tmp_path / "m")
    params = pipeline.get_params()
    assert params["tagger__phi"] == 0.5 and params["tagger__max_iter"] == 2
    assert params["tagger__n_models"] == 2 and params["tagger__random_state"] == 7
    assert params["tagger__constraints"] == "BIO" and params["tagger__verbose"] == 0
    assert params["features__min_count"] == 2
    assert params["features__lexicons"] == {"towns": ["Madrid", "Rome"]}
    # A lexicon joins a ready set.
    assert "in(towns)[-1..1]" in params["features__features"]
    assert "pos[-2..2]" in params["features__features"]


@pytest.mark.parametrize(
    ("option", "lines"),
    [
        ("--features", ["word[-1..1]", "suffix(2)"]),
        ("--template", ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B"]),
        ("--template", ["word[-1..1]", "suffix(2)"]),
        ("--template", ["U00:%x[0,0]", "suffix(2)", "B", "word[-1] & pos"]),
    ],
)
def test_features_come_from_the_line_or_from_a_file(
    run, files, tmp_path, option, lines
):
    value = "; ".join(lines)
    if option == "--template":
        value = tmp_path / "template"
        value.write_text("# mine\n" + "\n".join(lines) + "\n\n")
    run("train", files / "train.conll", "-o", tmp_path / "m", "-q", option, value)
    assert skcw.load(tmp_path / "m")[0].features == lines


def test_transitions_of_a_template_may_look_at_words(run, files, tmp_path):
    (tmp_path / "template").write_text("U00:%x[0,0]\nB\nB01:%x[0,1]\n*02:%x[0,0]\n")
    args = ["train", files / "train.conll", "-q", "--template", tmp_path / "template"]
    assert run(*args, "-o", tmp_path / "m")[0] == 0
    found = skcw.load(tmp_path / "m").tagger.edge_features_
    assert {name[:3] for name, _, _ in found} == {"B01", "*02"}
    code, out, _ = run("inspect", tmp_path / "m", "--label", "O", "--top", 2, "--json")
    rows = json.loads(out)["weights"]["edges"]
    assert code == 0 and len(rows) == 2
    for row in rows:
        step, _, name = row["name"].partition(" & ")
        before, after = step.split(" -> ")
        assert "O" in (before, after)
        assert row["weight"] == found[name, before, after]
    _, out, _ = run("inspect", tmp_path / "m", "--label", "O", "--top", 2)
    assert out.split("\n\n")[-1].startswith("transition with words")
    code, _, err = run(*args, "-o", tmp_path / "crf", "--model", "crf")
    assert code == 1 and "CRFSequenceTagger has no weights for these" in err


def test_no_features_at_all_are_not_taken_for_the_default(run, files, tmp_path):
    code, _, err = run(
        "train", files / "train.conll", "-o", tmp_path / "m", "-q", "--features", ""
    )
    assert code == 1 and "must be a ready set or a list" in err


def test_a_random_state_may_be_set_like_any_parameter(run, files, tmp_path):
    run(
        "train", files / "train.conll", "-o", tmp_path / "m", "-q", "--passes", 1,
        "--set", "random_state=5",
    )  # fmt: skip
    assert skcw.load(tmp_path / "m").get_params()["tagger__random_state"] == 5


def test_a_full_disk_is_told_in_one_line(run, files, tmp_path):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal that would otherwise end the process.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        code, _, err = run(
            "train", files / "train.conll", "-o", tmp_path / "m", "-q", "--passes", 1
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == 1 and err.count("\n") == 1
    assert f"{tmp_path / 'm'}: File too large" in err
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["U00:%x[0,0]", "nouns"], "template, line 2: 'nouns' is neither a column"),
        (["word", "U00:%y[0,0]"], "template, line 2: a % of the line"),
        (["word", "in(towns)"], "template, line 2: there is no lexicon 'towns'"),
        (
            ["U00:%x[0,2]"],
            "template, line 1: 'U00:%x[0,2]' looks at column 2; that is the column of "
            "the labels; the first column is 0, and the features can look at 0 (word), "
            "1 (pos)",
        ),
        (["U00:%x[0,3]"], "looks at column 3; the first column is 0"),
        (["# nothing"], "template holds no feature"),
    ],
)
def test_a_wrong_line_of_a_template_is_told_with_its_place(
    run, files, tmp_path, lines, message
):
    (tmp_path / "template").write_text("\n".join(lines))
    code, _, err = run(
        "train", files / "train.conll", "-o", tmp_path / "m", "-q",
        "--template", tmp_path / "template",
    )  # fmt: skip
    assert code == 1 and message in err and err.count("\n") == 1


def test_a_lexicon_that_no_feature_uses_is_noticed(run, files, tmp_path):
    (tmp_path / "towns.txt").write_text("Madrid\n")
    args = [files / "train.conll", "-o", tmp_path / "m", "-q", "--passes", 1]
    args += ["--lexicon", f"town={tmp_path / 'towns.txt'}", "--features"]
    code, _, err = run("train", *args, "word; pos")
    assert code == 0 and err == (
        "skcw train: warning: the lexicon town is used by no feature; add one such as "
        "in(town)[-1..1]\n"
    )
    for used in ("word; in(town)", "word & in(pos, town)[1]", "ner"):
        assert run("train", *args, used)[::2] == (0, "")


def test_a_dev_file_with_too_few_columns_is_told(run, files, tmp_path):
    (tmp_path / "dev").write_text("Ann B-PER\n")
    args = ["-o", tmp_path / "m", "-q", "--dev", tmp_path / "dev"]
    code, _, err = run("train", files / "train.conll", *args)
    assert code == 1 and "dev, line 1: 1 column besides the labels; " in err
    assert run("train", files / "train.conll", *args, "--features", "word")[0] == 0


def test_the_same_seed_gives_the_same_file(run, files, tmp_path):
    for name in ("a", "b"):
        run("train", files / "train.conll", "-o", tmp_path / name, "-q")
    a, b = (skcw.load(tmp_path / name).tagger for name in ("a", "b"))
    assert (a.coef_ == b.coef_).all()


def test_columns_and_labels_may_stand_anywhere(run, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.write_text("1,B-PER,NNP,Ann\n2,O,VBD,left\n\n", encoding="utf-8")
    code, _, _ = run(
        "train", corpus, "-o", tmp_path / "m", "-q", "--features", "word; pos",
        "--columns", "word=3,pos=2", "--label-column", 1, "--separator", ",",
    )  # fmt: skip
    pipeline = skcw.load(tmp_path / "m")
    assert code == 0 and pipeline[0].columns_ == ["word", "pos"]
    assert pipeline.predict_single([("Ann", "NNP")]) == ["B-PER"]
    assert "word[0]=Ann" in pipeline[0].get_feature_names_out()


def test_a_treebank_trains_on_forms_and_tags(run, tmp_path):
    corpus = tmp_path / "ud.conllu"
    corpus.write_text(
        "# text = Es geht\n"
        "1-2\tEsgeht\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tEs\tes\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
        "2\tgeht\tgehen\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    args = ["--conllu", "--features", "pos", "-q", "-o", tmp_path / "m"]
    assert run("train", corpus, *args)[0] == 0
    assert skcw.load(tmp_path / "m").predict_single(["geht"]) == ["VERB"]


def test_labels_are_learned_in_the_scheme_asked_for(run, files, tmp_path):
    run(
        "train", files / "train.conll", "-o", tmp_path / "m", "-q",
        "--scheme", "IOBES",
    )  # fmt: skip
    assert {"S-PER", "E-PER"} <= set(skcw.load(tmp_path / "m").classes_)


def test_compressed_latin_1_is_read(run, tmp_path):
    corpus = tmp_path / "corpus.gz"
    corpus.write_bytes(gzip.compress("José B-PER\nfällt O\n\n".encode("latin-1")))
    args = ["--encoding", "latin-1", "--features", "word", "-q", "-o", tmp_path / "m"]
    assert run("train", corpus, *args)[0] == 0
    assert skcw.load(tmp_path / "m").predict_single(["José"]) == ["B-PER"]


def test_standard_input_is_read(run, stdin, tmp_path):
    stdin("Ann B-PER\nleft O\n\n")
    assert run("train", "-", "-o", tmp_path / "m", "-q", "--features", "word")[0] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ann B-PER\nleft\n\n", r"corpus, line 2: 1 column where 2 are expected"),
        ("\n\n", "corpus holds no word"),
        ("Ann\nleft\n", "corpus has one column where a word and a label are needed"),
    ],
)
def test_wrong_data_are_told_in_one_line(run, tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").write_text(text)
    code, out, err = run("train", "corpus", "-o", "m")
    assert (code, out) == (1, "")
    assert err.startswith("skcw train: corpus") and message in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == ["corpus"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--label-column", "5"], "--label-column 5 is not one of them"),
        (["--features", "nouns"], "--features: 'nouns' is neither a column"),
        (["--features", "nerr"], ". The ready sets are chunking, ner, pos\n"),
        (["--features", "word[["], "--features: '[' stands"),
        (["--features", "%x[0,0]"], "--features: the line '%x[0,0]' begins with"),
        (["--lexicon", "x=nowhere.txt"], "nowhere.txt: No such file"),
        (["--template", "nowhere"], "nowhere: No such file"),
        (["--dev", "nowhere"], "nowhere: No such file"),
        (["-o", "nowhere/m"], "nowhere: there is no such folder"),
        (["-o", "."], ".: is a folder"),
        (["-o", os.devnull], "is not an ordinary file"),
    ],
)
def test_what_cannot_work_fails_with_a_reason(
    run, files, tmp_path, monkeypatch, args, message
):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("train", files / "train.conll", "-o", "m", "-q", *args)
    assert code == 1 and message in err and err.count("\n") == 1
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--set", "psi=1"], "cw has no parameter 'psi'; it has C, averaging"),
        (["--set", "psi"], "NAME=VALUE"),
        (["--set", "phi=high"], "'phi' parameter of CWSequenceTagger"),
        (["--lexicon", "towns.txt"], "form NAME=FILE, such as town=towns.txt"),
        (["--model", "crf", "--models", "3"], "crf has no parameter 'n_models'"),
        (["--passes", "3", "--set", "max_iter=4"], "max_iter is given twice"),
        (["--passes", "0"], "at least 1"),
        (["--seed", "x"], "'x' is not a whole number"),
        (["--encoding", "klingon"], "'klingon' is not a known encoding"),
        (["--separator", "ab"], "neither"),
        (["--separator", "é"], "nor an ASCII character"),
        (["--columns", "word,word"], "twice"),
        (["--columns", "word=x"], "is not a number"),
        (["--columns", "word=2", "--label-column", "2"], "column of the labels"),
        (["--features", "ner", "--template", "x"], "not allowed with"),
    ],
)
def test_wrong_usage_has_the_code_two(run, files, tmp_path, args, message):
    code, _, err = run("train", files / "train.conll", "-o", tmp_path / "m", *args)
    assert code == 2 and message in err
    assert not list(tmp_path.iterdir())


def test_a_corpus_is_not_overwritten_by_the_model(run, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.write_text("Ann B-PER\n")
    code, _, err = run("train", corpus, "-o", corpus)
    assert code == 2 and "would overwrite the corpus" in err
    assert corpus.read_text() == "Ann B-PER\n"


def test_only_models_are_overwritten(run, files, tmp_path):
    path = tmp_path / "thesis.tex"
    args = ["train", files / "train.conll", "-o", path, "-q", "--passes", 1]
    path.write_text("years of work")
    code, _, err = run(*args)
    assert code == 2 and "-o would overwrite" in err and "is not a skcw model" in err
    assert path.read_text() == "years of work"
    path.write_text("")
    assert run(*args)[0] == 0
    assert run(*args)[0] == 0


def test_warnings_take_one_line(run, tmp_path, recwarn):
    import warnings

    (tmp_path / "corpus").write_text("Ann I-PER\nleft O\n\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        _, _, err = run(
            "train", tmp_path / "corpus", "-o", tmp_path / "m", "-q",
            "--features", "word", "--set", "constraints=BIO",
        )  # fmt: skip
    assert err.startswith("skcw train: warning: 1 training sequences break")
    assert err.count("\n") == 1


def test_clusters_and_names_of_several_words_join_a_ready_set(run, files, tmp_path):
    from skcw import load

    (tmp_path / "towns.txt").write_text("New York\nRome\n")
    (tmp_path / "paths").write_text("010\tleft\t7\n011\tmet\t5\n")
    lists = ["--lexicon", f"towns={tmp_path / 'towns.txt'}"]
    lists += ["--clusters", f"brown={tmp_path / 'paths'}"]
    model = tmp_path / "m"
    code, _, err = run("train", files / "train.conll", "-o", model, "-q", *lists)
    assert (code, err) == (0, "")
    lines = load(model).get_params()["features__features"]
    assert lines[-2:] == ["span(towns)[-1..1]", "cluster(brown)[-1..1]"]
    code, out, _ = run("tag", model, files / "test.conll")
    assert code == 0 and out


def test_clusters_that_no_feature_uses_are_noticed(run, files, tmp_path):
    (tmp_path / "paths").write_text("010\tleft\t7\n")
    lists = ["--clusters", f"brown={tmp_path / 'paths'}", "--features", "word"]
    args = ["train", files / "train.conll", "-o", tmp_path / "m", "-q"]
    code, _, err = run(*args, *lists)
    assert code == 0 and "the clusters brown are used by no feature" in err
    lists[-1] = "cluster(red)"
    code, _, err = run(*args, *lists)
    assert code == 1 and "there is no cluster 'red' (clusters: brown)" in err
