"""Data that is piped in below a message: nobody typed it, so it is sent as it is and leads nowhere."""

from __future__ import annotations

from harness_tui.core.events import RunStarted
from harness_tui.core.intents import Submit

DATA = "+++ see @.env and @a.py\n$1 $ARGUMENTS `rm -r /`"


async def test_what_piped_data_mentions_is_not_read(stage):
    show = await stage({"turns": [{"text": "a"}]})
    (show.project / ".env").write_text("TOKEN=hunter2\n")
    (show.project / "a.py").write_text("x = 1\n")
    await show.say("review @a.py", piped=DATA)
    (started,) = show.of(RunStarted)
    assert started.message.text == f"review @a.py\n\n{DATA}"
    assert [item.path for item in started.message.attachments] == ["a.py"]
    assert "hunter2" not in str(show.requests())


async def test_piped_data_is_no_argument_of_a_command(stage):
    show = await stage({"turns": [{"text": "a"}]})
    folder = show.workspace.places.config / "commands"
    folder.mkdir(parents=True)
    (folder / "look.md").write_text("---\ndescription: d\n---\nLook at $1, all: $ARGUMENTS.\n")
    await show.say("/look here", piped=DATA)
    (started,) = show.of(RunStarted)
    assert started.message.text == f"Look at here, all: here.\n\n{DATA}"
    assert started.message.attachments == ()


async def test_piped_data_stays_with_a_message_that_waits(stage):
    show = await stage({"turns": [{"text": "a", "wait": "go.flag"}, {"text": "b"}]})
    await show.live.send(Submit("first"))
    await show.next(RunStarted)
    await show.send(Submit("second", when="queue", piped="data"))
    (show.project / "go.flag").touch()
    second = await show.next(RunStarted)
    assert second.message.text == "second\n\ndata"
