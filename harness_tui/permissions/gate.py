"""The one gate in front of every effect: only a complete positive proof is an allow, everything else asks or denies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness_tui.config.settings import RuleLayer
from harness_tui.core.seams import Check, GateCall, GateDecision, LayerResult, PartDecision
from harness_tui.core.values import Action, Rule, Scope
from harness_tui.permissions import bash
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.layers import covers, holds_back_commands, layer_result, strictest
from harness_tui.permissions.matching import PATH_PERMISSIONS, Matcher
from harness_tui.permissions.modes import mode_result, rule_text
from harness_tui.permissions.offers import ONCE_ONLY, offers_for
from harness_tui.permissions.protected import protected_name

NO_RULE = "no rule"


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
            checks = self._complete(call.checks)
            return self._decide(call, checks)
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

    def _decide(self, call: GateCall, checks: Sequence[Check]) -> GateDecision:
        if not checks:
            if call.fingerprint is not None:
                return GateDecision("ask", (), reason="a foreign tool that does not say what it does")
            return GateDecision("allow", (), reason="nothing to decide")
        parts: list[PartDecision] = []
        scopes: list[Scope] = []
        failure: str | None = None
        for check in checks:
            try:
                part, scope = self._with_approvals(call, self._by_rules(call, check))
            except Exception as error:  # noqa: BLE001 - one check that fails must not hide the deny of another
                part, scope = _undecided(check), None
                failure = f"the rules could not be applied to {check.value!r}: {error}"
            parts.append(part)
            if scope is not None:
                scopes.append(scope)
        action = strictest([part.decision for part in parts])
        asked = [part.check for part in parts if part.decision == "ask"]
        return GateDecision(
            action=action,
            parts=tuple(parts),
            offers=offers_for(asked, self.matcher) if action == "ask" and failure is None else (),
            reason=failure if action == "ask" and failure else self._reason(action, parts),
            scope=scopes[0] if action == "allow" and scopes else "rule",
        )

    def _complete(self, checks: Sequence[Check]) -> list[Check]:
        """Add the decision on the outside folder that a path outside the root needs, where the tool did not."""
        complete = list(checks)
        for check in checks:
            if check.permission not in ("read", "edit") or not check.value.startswith("/"):
                continue
            path = self.matcher.path_value(check.value)
            outside = Check("external_directory", path.absolute)
            given = [(other.permission, other.value) for other in complete]
            if path.relative is None and (outside.permission, outside.value) not in given:
                complete.append(outside)
        return complete

    def _by_rules(self, call: GateCall, check: Check) -> PartDecision:
        layers = (*self._layers, RuleLayer("agent", call.agent_rules))
        results = [result for layer in layers if (result := layer_result(layer, check, self.matcher)) is not None]
        decided = _combined(results)
        if decided is not None and decided.decision == "allow" and self._cannot_be_read(check, layers):
            unread = LayerResult("shell", "ask", "a command whose programs cannot be read off it", "shell")
            results.append(unread)
            decided = unread
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

    def _cannot_be_read(self, check: Check, layers: Sequence[RuleLayer]) -> bool:
        # ``bash * allow`` beside a rule on particular commands: the allow is no proof where those cannot be recognised.
        if check.permission != "bash" or not holds_back_commands(layers):
            return False
        exact = any(
            rule.permission == "bash"
            and rule.action == "allow"
            and rule.pattern != "*"
            and covers(rule, check, self.matcher)
            for layer in layers
            for rule in layer.rules
        )
        return not exact and bash.is_opaque(check.value)

    def _inside(self, check: Check) -> bool:
        return check.permission in PATH_PERMISSIONS and self.matcher.path_value(check.value).relative is not None

    def _with_approvals(self, call: GateCall, part: PartDecision) -> tuple[PartDecision, Scope | None]:
        """Turn an ask into an allow where a person typed it, approved it before, or a trusted file grants it."""
        if part.decision != "ask":
            return part, None
        if call.origin == "person":
            return _allowed(part, "typed by a person", "person", "person"), None
        if part.check.permission in ONCE_ONLY:
            return part, None
        approval = self.approvals.find(
            session=call.session,
            fingerprint=call.fingerprint,
            fits=lambda rule: covers(rule, part.check, self.matcher),
        )
        if approval is not None:
            return _allowed(part, rule_text(approval.rule), "approval", approval.source), approval.scope
        for rule in call.grants:
            if covers(rule, part.check, self.matcher):
                return _allowed(part, rule_text(rule), "grant", rule.source or "allowed-tools"), None
        return part, None

    def _reason(self, action: Action, parts: Sequence[PartDecision]) -> str | None:
        if action == "allow":
            return None
        part = next(part for part in parts if part.decision == action)
        if action == "deny":
            return f"denied by {part.rule} ({part.source})"
        name = protected_name(self.matcher, part.check)
        if name is not None:
            return f"{name} is a protected name"
        return part.rule if part.layer == "shell" else None


def _combined(results: Sequence[LayerResult]) -> LayerResult | None:
    """Return the result that decides: any deny, else the last one."""
    denied = next((result for result in results if result.decision == "deny"), None)
    return denied or (results[-1] if results else None)


def _allowed(part: PartDecision, rule: str, layer: str, source: str) -> PartDecision:
    result = LayerResult(layer, "allow", rule, source)
    return replace(part, decision="allow", rule=rule, layer=layer, source=source, layers=(*part.layers, result))


def _undecided(check: Check) -> PartDecision:
    return PartDecision(check, "ask", NO_RULE, "none", "none")
