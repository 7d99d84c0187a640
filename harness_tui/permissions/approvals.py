"""What a person allowed for longer than once: for the session in memory, for a project or everywhere in a file.

An approval turns an *ask* into an allow, nothing else. Those of foreign tools hold as long as the tool is described as
it was when it was approved.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from harness_tui.core.clock import SystemClock, rfc3339
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import short
from harness_tui.core.record import record
from harness_tui.core.seams import Clock
from harness_tui.core.values import Rule, Scope
from harness_tui.permissions.approvals_file import ApprovalsFile, StoredApproval
from harness_tui.permissions.definitions import ApprovedDefinitions

_LOG = logging.getLogger(__name__)


class ApprovalPlaces(Protocol):
    """Where approvals are kept; ``config.places.Places`` has it."""

    @property
    def approvals_file(self) -> Path:
        """The file of project and user approvals."""
        ...


@record
class Approval:
    """One approval. ``added`` is RFC 3339; ``session`` is set for those that end with a session."""

    scope: Scope
    rule: Rule
    added: str
    source: str
    fingerprint: str | None = None
    session: str | None = None


class Approvals:
    """The approvals that count in one project. ``root`` is the project root.

    ``report`` is told once of each fault of the file: a bad entry, a file that cannot be read or written.
    """

    def __init__(
        self,
        places: ApprovalPlaces,
        root: Path,
        *,
        clock: Clock | None = None,
        report: Callable[[HarnessError], None] | None = None,
    ) -> None:
        self._file = ApprovalsFile(places.approvals_file)
        self.definitions = ApprovedDefinitions(places.approvals_file.parent / "approved-tools")
        self._root = root.resolve().as_posix()
        self._clock = clock or SystemClock()
        self._report = report or (lambda error: _LOG.warning("%s", error))
        self._session: list[Approval] = []
        self._stored: list[Approval] = []
        self._signature: object = None
        self._problems: tuple[HarnessError, ...] = ()
        self._reported: set[str] = set()

    def report_to(self, report: Callable[[HarnessError], None]) -> None:
        """Tell ``report`` of faults from now on."""
        self._report = report

    def problems(self) -> tuple[HarnessError, ...]:
        """Return what is wrong with the file now."""
        self._refresh()
        return self._problems

    def list(self, *, session: str | None = None) -> Sequence[Approval]:
        """Return what counts in this project: session, project, user; the newest of each first.

        ``session`` leaves out the approvals of other sessions.
        """
        self._refresh()
        own = [one for one in reversed(self._session) if session is None or one.session == session]
        stored = list(reversed(self._stored))
        return [
            *own,
            *(one for one in stored if one.scope == "project"),
            *(one for one in stored if one.scope == "user"),
        ]

    def add(self, scope: Scope, rules: Sequence[Rule], *, session: str, fingerprint: str | None) -> None:
        """Keep allow rules. What cannot be written is kept for the session instead, and reported."""
        if scope in ("project", "user"):
            added = rfc3339(self._clock.now())
            root = self._root if scope == "project" else None
            entries = [StoredApproval(root, rule.permission, rule.pattern, added, fingerprint) for rule in rules]
            try:
                self._file.add(entries)
                return
            except HarnessError as error:
                self._report(error)
        self._keep(rules, session, fingerprint)

    def revoke(
        self, permission: str | None = None, pattern: str | None = None, *, scope: Scope | None = None
    ) -> Sequence[Approval]:
        """Take back the approvals that fit all that is given, and return them. Raises ``HarnessError``."""

        def fits(approval: Approval) -> bool:
            return (
                permission in (None, approval.rule.permission)
                and pattern in (None, approval.rule.pattern)
                and scope in (None, approval.scope)
            )

        gone = [approval for approval in self.list() if fits(approval)]
        stored = [_entry(approval, self._root) for approval in gone if approval.scope != "session"]
        if stored:
            self._file.remove(stored)
        self._session = [approval for approval in self._session if not fits(approval)]
        return gone

    def _keep(self, rules: Sequence[Rule], session: str, fingerprint: str | None) -> None:
        added = rfc3339(self._clock.now())
        for rule in rules:
            kept = Rule(rule.permission, rule.pattern, "allow", "approved for the session")
            self._session = [one for one in self._session if (one.rule, one.session) != (kept, session)]
            self._session.append(Approval("session", kept, added, "session", fingerprint, session))

    def _refresh(self) -> None:
        signature = self._file.signature()
        if signature == self._signature:
            return
        entries, problems = self._file.read()
        self._signature, self._problems = signature, tuple(problems)
        self._stored = [self._approval(entry) for entry in entries if entry.root in (None, self._root)]
        for problem in problems:
            if str(problem) not in self._reported:
                self._reported.add(str(problem))
                self._report(problem)

    def _approval(self, entry: StoredApproval) -> Approval:
        scope: Scope = "user" if entry.root is None else "project"
        source = f"{short(self._file.path)} ({scope})"
        rule = Rule(entry.permission, entry.pattern, "allow", source)
        return Approval(scope, rule, entry.added, source, entry.fingerprint)


def _entry(approval: Approval, root: str) -> StoredApproval:
    return StoredApproval(
        root if approval.scope == "project" else None,
        approval.rule.permission,
        approval.rule.pattern,
        approval.added,
        approval.fingerprint,
    )
