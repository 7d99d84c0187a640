"""What a person chose for a session: its agent, model, mode and title."""

from __future__ import annotations

from typing import Final

from harness_tui.agent.parts import AgentParts
from harness_tui.config.rules import MODES
from harness_tui.core.errors import UsageError
from harness_tui.core.events import SessionChanged
from harness_tui.core.intents import SetSession
from harness_tui.core.text import cut_end
from harness_tui.core.values import AgentDefinition

_TITLE_CHARS: Final = 60


class Choice:
    """The choice of one session.

    A ``model`` that a person chose goes before the model of the session's agent, and that before ``default_model``.
    """

    def __init__(
        self,
        parts: AgentParts,
        *,
        agent: str | None = None,
        model: str | None = None,
        default_model: str | None = None,
        mode: str | None = None,
        title: str | None = None,
    ) -> None:
        self._parts = parts
        self.agent = agent or parts.settings.agent
        self._model, self._default_model = model, default_model
        self.mode = mode or self._start_mode()
        self.title = title

    def use_parts(self, parts: AgentParts) -> None:
        """Choose among what ``parts`` hold from now on."""
        self._parts = parts

    @property
    def model(self) -> str | None:
        """The name of the model that runs use unless a message or a command names another."""
        agent = self.definition(self.agent)
        return self._model or (agent.model if agent else None) or self._default_model

    def definition(self, name: str | None) -> AgentDefinition | None:
        """Return the agent of this name."""
        return self._parts.settings.agents.get(name) if name else None

    def all(self) -> SessionChanged:
        """Return the event that tells agent, model and mode."""
        return SessionChanged(agent=self.agent, model=self.model, mode=self.mode)

    def change(self, change: SetSession) -> SessionChanged:
        """Take a change, and return the event that tells it. Raises ``UsageError`` and changes nothing then."""
        settings = self._parts.settings
        if change.agent is not None and change.agent not in settings.agents:
            raise UsageError(f"there is no agent {change.agent!r}; agents: {', '.join(sorted(settings.agents))}")
        if change.mode is not None and change.mode not in MODES:
            raise UsageError(f"there is no mode {change.mode!r}; modes: {', '.join(MODES)}")
        models = self._parts.models
        if change.model is not None and (fault := models.fault(change.model)) is not None:
            raise fault
        self.agent = change.agent or self.agent
        self._model = models.full_name(change.model) if change.model is not None else self._model
        self.mode = change.mode or (self._start_mode() if change.agent else self.mode)
        self.title = change.title or self.title
        return SessionChanged(
            title=change.title,
            agent=change.agent,
            model=self.model if change.model or change.agent else None,
            mode=self.mode if change.mode or change.agent else None,
        )

    def name_after(self, text: str, command: str | None) -> SessionChanged | None:
        """Take the first message for the title, unless there is one."""
        if self.title:
            return None
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        self.title = cut_end(f"/{command}" if command else first, _TITLE_CHARS)
        return SessionChanged(title=self.title)

    def _start_mode(self) -> str:
        agent = self.definition(self.agent)
        return (agent.start_mode if agent else None) or self._parts.settings.mode
