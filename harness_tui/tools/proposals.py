"""A change that a person alters before they allow it: their text takes the place of what was proposed, nothing else.

What was decided on stays as it is (the same files, the same bytes that it was made from), so that a file which somebody
else changes meanwhile is not written.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.seams import Amended, PreparedCall, ProposedFile, TextChange
from harness_tui.core.text import cut_middle
from harness_tui.tools.builtin import title_of
from harness_tui.tools.changes import PlannedChange
from harness_tui.tools.diffs import make_diff
from harness_tui.tools.splicing import splice
from harness_tui.tools.text_file import TextFile, check_text, decode, normal_ends, uniform_line_end, with_line_end

_MOST_BYTES: Final = 2_000_000
_TOLD_BYTES: Final = 16_000
_TOLD_LINES: Final = 400
_EMPTY: Final = TextFile("", b"", "utf-8", True)


class ChangeProposal:
    """Satisfies ``core.seams.Proposal`` over planned changes; ``rebuild`` makes the call from those that are left.

    A file that goes because it is moved comes right after the one that it becomes.
    """

    def __init__(
        self, plans: Sequence[PlannedChange], rebuild: Callable[[Sequence[PlannedChange]], PreparedCall]
    ) -> None:
        self._plans = tuple(plans)
        self._rebuild = rebuild

    def files(self) -> Sequence[ProposedFile]:
        """Return every file as it is and as it would be. Blocks. Raises ``ToolError`` for what is no plain text."""
        return [
            ProposedFile(plan.target.name, _normal(before, plan), normal_ends(after.text))
            for plan, before, after in self._sides()
        ]

    def amended(self, edits: Mapping[str, str | None]) -> Amended:
        """Return the call with the texts of ``edits``; ``None`` leaves a file alone. Blocks. Raises ``ToolError``."""
        names = {plan.target.name for plan in self._plans if not plan.gone}
        if unknown := sorted(set(edits) - names):
            raise ToolError(f"the change has no file {unknown[0]!r}", mend=f"its files are {', '.join(sorted(names))}")
        kept: list[PlannedChange] = []
        told: list[str] = []
        moved = self._moved()
        for plan, before, after in self._sides():
            name, proposed = plan.target.name, normal_ends(after.text)
            text = edits.get(name, proposed)
            if text is None or (plan.before is not None and text == _normal(before, plan)):
                told.append(f"{name} was left as it is.\n")
                continue
            if text != proposed:
                told.append(make_diff(proposed, text, name).text or f"{name}: line ends at its end differ.\n")
                plan = _with_text(plan, before, after, text)
            kept += [plan, *moved.get(name, ())]
        if not kept:
            raise ToolError("nothing of the change is left", mend="say no, or leave something of it in")
        return Amended(self._rebuild(kept), _told(told))

    def _moved(self) -> dict[str, tuple[PlannedChange, ...]]:
        """Return for a file that another one becomes the change that takes that one away."""
        pairs = zip(self._plans, self._plans[1:], strict=False)
        return {plan.target.name: (after,) for plan, after in pairs if after.gone}

    def _sides(self) -> list[tuple[PlannedChange, TextFile, TextFile]]:
        """Return each change with both sides as text."""
        moved = self._moved()
        found: list[tuple[PlannedChange, TextFile, TextFile]] = []
        for plan in self._plans:
            if plan.gone:
                continue
            gone = moved.get(plan.target.name, ())
            before = gone[0].before if gone else plan.before
            found.append((plan, _file(before, plan), _file(plan.after, plan)))
        return found


def prepared_change(verb: str, change: PlannedChange) -> PreparedCall:
    """Return the call that changes one file, for the gate, with the diff to show."""
    return PreparedCall(
        title=title_of(verb, change.target.name),
        checks=change.target.checks("edit"),
        preview=DiffPreview(change.target.name, change.diff, change.before_hash),
        state=change,
        proposal=ChangeProposal((change,), lambda plans: prepared_change(verb, plans[0])),
    )


def _file(data: bytes | None, plan: PlannedChange) -> TextFile:
    name = plan.target.name
    if data is None:
        return _EMPTY
    if len(data) > _MOST_BYTES:
        raise ToolError(f"the file has {len(data)} bytes: too many to look through here", where=name)
    file = decode(data, name)
    if not file.valid:
        raise ToolError("the file is not UTF-8 and does not say what it is", where=name)
    return file


def _normal(before: TextFile, plan: PlannedChange) -> str | None:
    return None if plan.before is None and before is _EMPTY else normal_ends(before.text)


def _with_text(plan: PlannedChange, before: TextFile, after: TextFile, text: str) -> PlannedChange:
    """Return ``plan`` with ``text``, whose lines get the ends of the file, in its encoding."""
    name = plan.target.name
    check_text(text, name)
    if before is _EMPTY:
        raw = with_line_end(text, uniform_line_end(after.text) or "\n")
    else:
        raw = splice(before.text, _places(normal_ends(before.text), text), name)
    file = after if plan.after else before
    try:
        data = file.encode(raw)
    except UnicodeEncodeError as error:
        what = f"{raw[error.start]!r} cannot be written in {file.encoding}, the encoding of the file"
        raise ToolError(what, where=name, mend="write it in another way", code="encoding") from error
    diff = make_diff(before.text, text, name, created=before is _EMPTY)
    head, _, _ = plan.diff.partition("\n")
    moved = f"{head}\n" if head.startswith("moved from ") else ""
    what = plan.summary.rpartition(" (+")[0]
    return replace(
        plan,
        after=data,
        diff=moved + diff.text,
        added=diff.added,
        removed=diff.removed,
        summary=f"{what}, as the person changed it (+{diff.added} -{diff.removed})",
        unchanged=plan.before == data,
    )


def _places(before: str, text: str) -> list[TextChange]:
    """Return what turns ``before`` into ``text``, by lines, so that every other line keeps its bytes."""
    old, new = before.splitlines(keepends=True), text.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) > 4_000)
    return [
        TextChange(starts[a], starts[b], "".join(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _told(parts: Sequence[str]) -> str:
    """Return what the model is told, empty where nothing was altered."""
    if not parts:
        return ""
    cut = cut_middle("".join(parts), max_bytes=_TOLD_BYTES, max_lines=_TOLD_LINES)
    head = "The person changed your proposal before they allowed it. From what you sent to what was written:"
    return f"{head}\n{cut.text}".rstrip("\n") + ("\nRead the file again." if cut.text != "".join(parts) else "")
