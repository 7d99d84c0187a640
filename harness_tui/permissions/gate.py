"""The one gate in front of every effect: only a complete positive proof is an allow, everything else asks or denies.

A shell text is decided command by command, and file by file for those that its commands name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness_tui.config.settings import RuleLayer
from harness_tui.core.patterns import is_literal, unescaped
from harness_tui.core.seams import Check, GateCall, GateDecision, LayerResult, PartDecision
from harness_tui.core.values import Action, Rule, Scope
from harness_tui.permissions.approvals import Approval, Approvals
from harness_tui.permissions.layers import Subject, covers, holds_back_commands, layer_result, strictest
from harness_tui.permissions.matching import PATH_PERMISSIONS, Matcher
from harness_tui.permissions.modes import mode_result, rule_text
from harness_tui.permissions.offers import ONCE_ONLY, offers_for
from harness_tui.permissions.protected import protected_name

NO_RULE = "no rule"
_CHANGED = "its server describes this tool in another way than when you allowed it"


class Gate:
    """Decides on calls for one project; satisfies :class:`harness_tui.core.seams.PermissionGate`.

    ``layers`` are bundled, user and project, in this order; agent and mode come with each call. ``root`` is the project
    root, ``cwd`` the start folder, ``home`` the home folder that ``~/`` in a pattern stands for.
    """

    def __init__(
        self, layers: Sequence[RuleLayer], approvals: Approvals, *, root: Path, cwd: Path, home: Path | None = None
    ) -> None:
        self._layers = tuple(layers)
        self.approvals = approvals
        self.cwd = cwd
        self.matcher = Matcher(root.resolve(), (home or Path.home()).resolve())

    @property
    def layers(self) -> tuple[RuleLayer, ...]:
        """The configured layers."""
        return self._layers

    def use_layers(self, layers: Sequence[RuleLayer]) -> None:
        """Decide by ``layers`` from now on: configuration or trust changed."""
        self._layers = tuple(layers)

    def decide(self, call: GateCall) -> GateDecision:
        """Decide on ``call``. Never raises: what cannot be decided is asked, with the reason."""
        try:
            return self._decide(call, self._subjects(call))
        except Exception as error:  # noqa: BLE001 - rules and values are foreign; the gate fails closed, and says why
            parts = tuple(_undecided(check) for check in call.checks)
            return GateDecision("ask", parts, reason=f"the rules could not be applied: {error}")

    def remember(self, call: GateCall, scope: Scope, rules: Sequence[Rule]) -> None:
        """Store the allow rules of an approval; what may be approved once only is not stored.

        An approval that cannot be written to its file is kept for the session, and the failure is reported.
        """
        kept = [rule for rule in rules if rule.action == "allow" and rule.permission not in ONCE_ONLY]
        if scope != "once" and kept:
            self.approvals.add(scope, kept, session=call.session, fingerprint=call.fingerprint)
            if call.fingerprint is not None and call.definition is not None:
                self.approvals.definitions.keep(call.fingerprint, call.definition)

    def _decide(self, call: GateCall, subjects: Sequence[Subject]) -> GateDecision:
        if not subjects:
            if call.fingerprint is not None:
                return GateDecision("ask", (), reason="a foreign tool that does not say what it does")
            return GateDecision("allow", (), reason="nothing to decide")
        layers = _ByPermission((*self._layers, RuleLayer("agent", call.agent_rules)))
        approved = _Approved(self.approvals, call)
        scopes: list[Scope] = []
        parts: list[PartDecision] = []
        asked: list[Subject] = []
        failure: str | None = None
        known: dict[int, tuple[PartDecision, Scope | None]] = {}
        for subject in subjects:
            try:
                if subject.command is not None and id(subject.command) in known:
                    part, scope = known[id(subject.command)]
                else:
                    by_rules = self._by_rules(call, subject, layers.of(subject.check.permission))
                    part, scope = self._with_approvals(call, subject, by_rules, approved)
                    if subject.command is not None:
                        known[id(subject.command)] = part, scope
            except Exception as error:  # noqa: BLE001 - one check that fails must not hide the deny of another
                part, scope = _undecided(subject.check), None
                failure = f"the rules could not be applied to {subject.check.value!r}: {error}"
            if scope is not None:
                scopes.append(scope)
            if subject.implied and part.decision == "allow":
                continue
            parts.append(part)
            if part.decision == "ask":
                asked.append(subject)
        action = strictest([part.decision for part in parts])
        reason = self._reason(action, parts, asked)
        before = approved.before_change(asked, self.matcher) if action == "ask" else None
        if action == "ask":
            reason = failure or (_CHANGED if before is not None else reason)
        return GateDecision(
            action=action,
            parts=tuple(parts),
            offers=offers_for(asked, self.matcher) if action == "ask" and failure is None else (),
            reason=reason,
            scope=scopes[0] if action == "allow" and scopes else "rule",
            changes=self._changes(call, before) if before is not None else None,
        )

    def _changes(self, call: GateCall, before: str) -> str | None:
        if call.definition is None:
            return None
        return self.approvals.definitions.differences(before, call.definition)

    def _subjects(self, call: GateCall) -> list[Subject]:
        """Take shell texts apart, and add the outside folder that a path outside the root needs too."""
        held_back = holds_back_commands((*self._layers, RuleLayer("agent", call.agent_rules)))
        subjects: list[Subject] = []
        for check in call.checks:
            if check.permission != "bash":
                subjects.append(Subject(check))
                continue
            # What reads shell texts is imported with the first of them.
            from harness_tui.permissions.script import read_script

            start = self.cwd.resolve().as_posix()
            script = read_script(check.value, check.folder or start, self.matcher, start)
            subjects += [Subject(command.check, command, held_back) for command in script.commands]
            subjects += [Subject(path, implied=path.permission == "read") for path in script.paths]
        checks = [subject.check for subject in subjects if subject.command is None]
        known = {(check.permission, check.value) for check in checks}
        for check in checks:
            if check.permission not in ("read", "edit") or not check.value.startswith("/"):
                continue
            try:
                path = self.matcher.path_value(check.value)
            except ValueError:
                continue  # its own decision says so; it must not hide that of another
            if path.relative is None and ("external_directory", path.absolute) not in known:
                subjects.append(Subject(Check("external_directory", path.absolute, check.display)))
        return subjects

    def _by_rules(self, call: GateCall, subject: Subject, layers: Sequence[RuleLayer]) -> PartDecision:
        check = subject.check
        results = [result for layer in layers if (result := layer_result(layer, subject, self.matcher)) is not None]
        decided = _combined(results)
        from_mode = mode_result(
            call.mode,
            check.permission,
            check.value,
            so_far=decided.decision if decided else None,
            inside_root=self._inside(check),
            protected=protected_name(self.matcher, check) is not None,
            origin=call.origin,
        )
        if from_mode is not None:
            results.append(from_mode)
            decided = _combined(results)
        if decided is None:
            return PartDecision(check, "ask", NO_RULE, "none", "none", tuple(results))
        return PartDecision(check, decided.decision, decided.rule, decided.layer, decided.source, tuple(results))

    def _inside(self, check: Check) -> bool:
        return check.permission in PATH_PERMISSIONS and self.matcher.path_value(check.value).relative is not None

    def _with_approvals(
        self, call: GateCall, subject: Subject, part: PartDecision, approved: _Approved
    ) -> tuple[PartDecision, Scope | None]:
        """Turn an ask into an allow where a person typed it, approved it before, or a trusted file grants it."""
        if part.decision != "ask":
            return part, None
        if call.origin == "person":
            return _allowed(part, "typed by a person", "person", "person"), None
        if part.check.permission in ONCE_ONLY:
            return part, None
        approval = approved.find(subject, self.matcher)
        if approval is not None:
            return _allowed(part, rule_text(approval.rule), "approval", approval.source), approval.scope
        for rule in call.grants:
            if covers(rule, subject, self.matcher):
                return _allowed(part, rule_text(rule), "grant", rule.source or "allowed-tools"), None
        return part, None

    def _reason(self, action: Action, parts: Sequence[PartDecision], asked: Sequence[Subject]) -> str | None:
        if action == "allow":
            return None
        if action == "deny":
            part = next(part for part in parts if part.decision == action)
            return f"denied by {part.rule} ({part.source})"
        for subject in asked:
            if subject.command is not None and subject.command.reason is not None:
                return subject.command.reason
            name = protected_name(self.matcher, subject.check)
            if name is not None:
                return f"{name} is a protected name"
        return None


class _Approved:
    """The approvals that count for one call, read at the first part that asks."""

    def __init__(self, approvals: Approvals, call: GateCall) -> None:
        self._approvals = approvals
        self._call = call
        self._read = False
        self._exact: dict[str, Approval] = {}
        self._others: dict[str, list[Approval]] = {}
        self._changed: list[Approval] = []

    def before_change(self, subjects: Sequence[Subject], matcher: Matcher) -> str | None:
        """Return the hash that a foreign tool had when it was allowed, where only that is another one now."""
        for approval in self._changed:
            if any(covers(approval.rule, subject, matcher) for subject in subjects):
                return approval.fingerprint
        return None

    def find(self, subject: Subject, matcher: Matcher) -> Approval | None:
        """Return an approval that covers ``subject``: one of exactly this command, else the newest that fits."""
        if not self._read:
            self._take()
        if subject.command is not None:
            for text in subject.command.texts():
                exact = self._exact.get(text)
                if exact is not None and covers(exact.rule, subject, matcher):
                    return exact
        others = self._others.get(subject.check.permission, ())
        return next((approval for approval in others if covers(approval.rule, subject, matcher)), None)

    def _take(self) -> None:
        self._read = True
        for approval in self._approvals.list(session=self._call.session):
            rule = approval.rule
            if approval.fingerprint != self._call.fingerprint:
                if approval.fingerprint is not None and self._call.fingerprint is not None:
                    self._changed.append(approval)
                continue
            if rule.permission == "bash" and is_literal(rule.pattern):
                self._exact.setdefault(unescaped(rule.pattern), approval)
            else:
                self._others.setdefault(rule.permission, []).append(approval)


class _ByPermission:
    """Layers with the rules of one permission only: a text of many commands asks for the same ones each time."""

    def __init__(self, layers: Sequence[RuleLayer]) -> None:
        self._layers = layers
        self._known: dict[str, tuple[RuleLayer, ...]] = {}

    def of(self, permission: str) -> tuple[RuleLayer, ...]:
        """Return the layers with the rules of ``permission``, without those that have none."""
        if permission not in self._known:
            fitting = (
                replace(layer, rules=tuple(rule for rule in layer.rules if rule.permission == permission))
                for layer in self._layers
            )
            self._known[permission] = tuple(layer for layer in fitting if layer.rules)
        return self._known[permission]


def _combined(results: Sequence[LayerResult]) -> LayerResult | None:
    """Return the result that decides: any deny, else the last one."""
    denied = next((result for result in results if result.decision == "deny"), None)
    return denied or (results[-1] if results else None)


def _allowed(part: PartDecision, rule: str, layer: str, source: str) -> PartDecision:
    result = LayerResult(layer, "allow", rule, source)
    return replace(part, decision="allow", rule=rule, layer=layer, source=source, layers=(*part.layers, result))


def _undecided(check: Check) -> PartDecision:
    return PartDecision(check, "ask", NO_RULE, "none", "none")
