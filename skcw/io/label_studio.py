"""Exports of Label Studio: a JSON list of tasks, each a text with spans."""

import json
from itertools import chain

from skcw.data.text_lines import lines_of
from skcw.exceptions import ColumnFileError
from skcw.io.corpora import is_added
from skcw.io.json_lines import BLANKS, JsonLinesFile
from skcw.io.json_records import (
    LABEL,
    Misaligned,
    RecordError,
    read_record,
    relabeled_spans,
)

NO_TASK = (
    'this is no task of Label Studio, which has "data" with a text (of other records, '
    "write each on a line of its own)"
)


class LabelStudioFile(JsonLinesFile):
    """An export as "JSON" or "JSON-MIN", which is held in memory as a whole.

    Of several annotations of a task the first counts that was not cancelled, or the one
    that is marked as ground truth. Tasks without any have no labels to learn from and
    are left out then. Their numbers stand for lines. Tagged tasks are written one per
    line, with the spans as ``predicted``, and can be read again.

    Parameters
    ----------
    opened : Opened
        The file after a first look.
    """

    takes = ("misaligned",)
    unit = "task"

    @staticmethod
    def detect(header, first, fits):
        """Return whether a list of records begins, or a task stands there."""
        begin = "".join(first.split(maxsplit=1))
        task = '"data"' in begin and '"annotations"' in begin
        known = task or '"annotation_id"' in begin
        if begin[:1] == "[":
            return (known or fits) and begin[:2] in ("[", "[{")
        return begin[:1] == "{" and task

    def records(self, label, with_labels):
        """Yield the number, the task and the sentence of each."""
        options = self._options(label) | {"with_labels": with_labels}
        left_out, misaligned = 0, Misaligned()
        for number, task in enumerate(self._tasks(), start=1):
            place = f"{self.title}, task {number}"
            try:
                sentence = self._read(task, **options)
            except RecordError as error:
                raise ColumnFileError(f"{place}: {error}") from None
            misaligned.add(place, sentence)
            if with_labels and sentence.labels is None:
                left_out += 1
            else:
                yield number, task, sentence
        misaligned.tell(self.opened.note)
        if left_out:
            self.opened.note(
                f"tasks of {self.title} without an annotation are left out: {left_out}"
            )

    def _tasks(self):
        """Yield the tasks of a list, or of one task per line."""
        text = "".join(lines_of(self.opened.source, self.opened.encoding))
        whole = text.lstrip()[:1] == "["
        pieces = [text] if whole else text.split("\n")
        for number, piece in enumerate(pieces, start=1):
            if not piece.strip(BLANKS):
                continue
            try:
                found = json.loads(piece)
            except (ValueError, RecursionError) as error:
                place = self.title if whole else f"{self.title}, line {number}"
                raise ColumnFileError(f"{place}: not JSON: {error}") from None
            yield from found if whole else [found]

    def _relabeled(self, changed):
        tasks = list(self._tasks())
        for s, (number, task, sentence) in enumerate(self.records(self.label, True)):
            if s in changed:
                tasks[number - 1] = task
                self.relabel(task, sentence, changed[s])
        text = json.dumps(tasks, ensure_ascii=False, indent=1)
        yield text.encode("utf-8", "backslashreplace") + b"\n"

    def relabel(self, task, sentence, labels):
        """Put other spans into a task."""
        values = {tuple(_span(value)): value for value in results_of(task, self.label)}
        spans = relabeled_spans(list(map(list, values)), sentence, labels, LABEL)
        found = [
            values.get((start, end, kind))
            or {
                "start": start,
                "end": end,
                "text": sentence.text[start:end],
                "labels": [kind],
            }
            for start, end, kind in spans
        ]
        _put_back(task, self.label, found)

    @staticmethod
    def _read(task, label=None, **options):
        """Return the sentence of a task."""
        try:
            record = {"text": text_of(task)}
            spans = results_of(task, label)
            if spans is not None:
                record["spans"] = [_span(span) for span in spans]
            elif is_added(label or "") and label in task:
                record["spans"] = task[label]
        except (AttributeError, KeyError, TypeError):
            raise RecordError(NO_TASK) from None
        return read_record(record, **options)


def text_of(task):
    """Return the text of a task."""
    data = task.get("data", task)
    texts = [value for value in data.values() if isinstance(value, str)]
    if isinstance(data.get("text"), str):
        return data["text"]
    if data is not task and len(texts) == 1:
        return texts[0]
    raise RecordError(NO_TASK)


def results_of(task, label=None):
    """Return the marked spans of a task as they are there; None without annotation.

    Parameters
    ----------
    task : dict
        The task.
    label : str, default=None
        The control tag (``from_name``) whose spans are meant; by default all.

    Returns
    -------
    results : list of dict or None
        Each with ``start``, ``end`` and ``labels``.

    Examples
    --------
    >>> from skcw.io.label_studio import results_of
    >>> value = {"start": 0, "end": 3, "labels": ["PER"]}
    >>> result = [{"value": value, "type": "labels"}]
    >>> task = {"data": {"text": "Ann"}, "annotations": [{"result": result}]}
    >>> results_of(task) == [value]
    True
    """
    wanted = None if label == LABEL else label
    if "data" not in task:
        # JSON-MIN has a list under the name of each control tag.
        lists = [v for k, v in task.items() if wanted in (None, k) and _are_spans(v)]
        annotated = lists or (wanted is None and "annotation_id" in task)
        return list(chain.from_iterable(lists)) if annotated else None
    best = None if is_added(wanted or "") else _annotation(task)
    if best is None:
        return None
    return [r["value"] for r in best.get("result", ()) if _is_meant(r, wanted)]


def _annotation(task):
    """Return the annotation that counts, or None."""
    made = [a for a in task.get("annotations") or () if not a.get("was_cancelled")]
    return next((a for a in made if a.get("ground_truth")), made[0] if made else None)


def _is_meant(result, wanted):
    named = wanted in (None, result.get("from_name"))
    return named and _are_spans([result.get("value")])


def _put_back(task, label, values):
    """Replace the marked spans of a task."""
    wanted = None if label == LABEL else label
    if "data" not in task:
        keys = [k for k, v in task.items() if wanted in (None, k) and _are_spans(v)]
        for key in keys[1:]:
            del task[key]
        task[keys[0] if keys else wanted or LABEL] = values
        return
    best = _annotation(task)
    results = best.get("result", [])
    meant = [result for result in results if _is_meant(result, wanted)]
    # A new span is marked as the others are, or under the usual names.
    names = {"from_name": wanted or LABEL, "to_name": "text", "type": "labels"}
    like = {name: (meant or [names])[0].get(name, names[name]) for name in names}
    known = {id(result["value"]): result for result in meant}
    best["result"] = [result for result in results if result not in meant]
    best["result"] += [known.get(id(v), {**like, "value": v}) for v in values]


def _are_spans(values):
    return (
        isinstance(values, list)
        and bool(values)
        and all(isinstance(v, dict) and "labels" in v and "start" in v for v in values)
    )


def _span(value):
    if len(value["labels"]) != 1:
        raise RecordError(
            f"the span {value['start']} to {value.get('end')} has the labels "
            f"{value['labels']}; a word has one label only"
        )
    return [value["start"], value.get("end"), value["labels"][0]]
