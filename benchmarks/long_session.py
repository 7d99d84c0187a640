"""Records a long session through the product's own store, for the benches of resume and of long transcripts."""

from __future__ import annotations

from pathlib import Path

from harness_tui.config.places import Places
from harness_tui.config.project import find_project
from harness_tui.core.bus import EventStream
from harness_tui.core.envelope import Envelope
from harness_tui.core.events import RunFinished, RunStarted, SessionStarted, StepFinished, TextFinished
from harness_tui.core.messages import AssistantMessage, UserMessage
from harness_tui.sessions.store import SessionStore

ANSWER = """\
Here is answer {number}. It has **bold** words, `code` and a list:

- the first point, a little longer than the others
- the second

```python
def answer() -> int:
    return {number}
```
"""


def record(project: str, turns: int) -> str:
    """Record ``turns`` messages, each with an answer, and return the session's id."""
    places = Places.from_environment()
    store = SessionStore(places.database)
    root = find_project(Path(project)).root
    info = store.create(root)
    stream = EventStream(info.session)
    envelopes: list[Envelope] = []
    stream.listen(envelopes.append)
    stream.publish(SessionStarted(root=str(root)))
    for number in range(turns):
        message, text = UserMessage(f"question {number}"), ANSWER.format(number=number)
        stream.publish(RunStarted("build", "replay:long", "ask", message), run=f"run_{number}")
        stream.publish(TextFinished(text), run=f"run_{number}")
        stream.publish(StepFinished(1, AssistantMessage(text)), run=f"run_{number}")
        stream.publish(RunFinished("completed"), run=f"run_{number}")
    store.append(info.session, envelopes)
    store.close()
    return info.session
