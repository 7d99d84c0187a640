"""The guard: a process of its own that ends what a shell leaves behind when the shell is killed.

Run as ``python -I -S guard_program.py SHELL_ID SHELL_PID LEDGER`` with a pipe as standard input. Standard library only,
and little of it: it stays small and starts at once. The shell writes ``+PID STARTED`` for each child that it starts
and ``-PID`` when nothing of it is left; at a clean end it kills the guard. So the end of the pipe is the death of the
shell: then every recorded group, everything that carries the shell's mark, and every descendant that was seen gets
TERM, half a second, and KILL, until nothing is found any more.

While the shell lives the guard looks now and then at what runs below it, because a process that left its session and
cleaned its environment can no longer be told from a stranger once its parents are gone.
"""

import os
import select
import signal
import sys
import time

TERM_S = 0.5
END_S = 10.0
POLL_S = 0.02
NOTHING = 3  # so often nothing is found before nothing is there: a process may be passing itself on by forking
LISTINGS = 5
SHORTEST_LOOK_S = 1.0
LOOK_SHARE = 400  # of its time, at most one part in so many is spent on looking

LINUX = sys.platform == "linux"


class Seen:
    """One process: ``pid`` and ``started`` together name it for good; ``marked`` is filled by :func:`scan`."""

    __slots__ = ("group", "marked", "pid", "ppid", "started", "uid", "zombie")

    def __init__(self, pid: int, ppid: int, group: int, started: float, zombie: bool, uid: int) -> None:
        self.pid = pid
        self.ppid = ppid
        self.group = group
        self.started = started
        self.zombie = zombie
        self.uid = uid
        self.marked = False


def main(arguments: list[str]) -> int:
    """Watch the pipe until it ends, then end what is left; return 0."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)  # it outlives a polite end of everything: the shell is served to the last
    os.chdir("/")
    mark, shell, ledger = arguments[0], int(arguments[1]), arguments[2]
    watch = Watch(shell)
    watch.follow(0)
    if end_everything(f"HARNESS_SHELL={mark}", watch) and ledger:
        try:
            os.unlink(ledger)
        except OSError:
            return 0  # somebody else has cleaned up already
    return 0


class Watch:
    """What is known of the shell's children: ``children`` by the shell's word, ``below`` by looking."""

    def __init__(self, shell: int) -> None:
        self.shell = shell
        self.children: dict[int, float] = {}
        self.below: dict[int, float] = {}

    def follow(self, pipe: int) -> None:
        """Read the shell's messages until they end."""
        rest = b""
        pause = SHORTEST_LOOK_S
        while True:
            ready, _, _ = select.select([pipe], [], [], pause if self.children else None)
            if not ready:
                began = time.monotonic()
                self.look()
                pause = max(SHORTEST_LOOK_S if LINUX else 10.0, (time.monotonic() - began) * LOOK_SHARE)
                continue
            data = os.read(pipe, 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.note(line.decode("ascii", "replace"))

    def note(self, line: str) -> None:
        """Take one message."""
        pid, _, started = line[1:].partition(" ")
        if line.startswith("+"):
            self.children[int(pid)] = float(started)
        elif line.startswith("-"):
            self.children.pop(int(pid), None)

    def look(self) -> None:
        """Keep what runs below the shell now, and of what was seen before whatever still runs."""
        table = scan()
        below = descendants(table, {self.shell, *self.alive(table)}) - {self.shell, os.getpid()}
        self.below = {pid: table[pid].started for pid in below if pid in table}

    def alive(self, table: dict[int, Seen]) -> set[int]:
        """Return the pids of what was seen before and still runs."""
        return {pid for pid, started in self.below.items() if pid in table and same(table[pid].started, started)}


def end_everything(mark: str, watch: Watch) -> bool:
    """End all that is left; tell whether nothing remains."""
    began = time.monotonic()
    politely = True
    nothing = 0
    while True:
        left = find_left(mark, watch)
        nothing = 0 if left else nothing + 1
        if nothing >= NOTHING or not (left or watch.children or watch.below):
            return True
        now = time.monotonic() - began
        if now > END_S:
            return False
        if politely or now >= TERM_S:
            for seen in left:
                send(seen, signal.SIGTERM if politely else signal.SIGKILL)
            politely = politely and not left
        if politely or now < TERM_S or not left:
            time.sleep(POLL_S)


def find_left(mark: str, watch: Watch) -> list[Seen]:
    """Return what is alive of the recorded groups, of what was seen, and of what carries ``mark``, with descendants."""
    table = {pid: seen for pid, seen in scan(mark).items() if not seen.zombie and seen.uid == os.getuid()}
    # A group keeps its number while it has a member; one whose leader is another process now is a stranger's.
    groups = {pid for pid, started in watch.children.items() if pid not in table or same(table[pid].started, started)}
    starts = {seen.pid for seen in table.values() if seen.group in groups}
    starts |= watch.alive(table) | {seen.pid for seen in table.values() if seen.marked}
    found = descendants(table, starts) - {os.getpid(), watch.shell}
    watch.below.update({pid: table[pid].started for pid in found if pid in table})
    return [table[pid] for pid in sorted(found) if pid in table]


def descendants(table: dict[int, Seen], starts: set[int]) -> set[int]:
    """Return ``starts`` and everything below them."""
    children: dict[int, list[int]] = {}
    for seen in table.values():
        children.setdefault(seen.ppid, []).append(seen.pid)
    found: set[int] = set()
    waiting = list(starts)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(children.get(pid, ()))
    return found


def same(one: float, other: float) -> bool:
    """Tell whether two start times are one. ``ps`` tells whole seconds only."""
    return abs(one - other) < (0.005 if LINUX else 1.5)


def send(seen: Seen, number: int) -> None:
    """Send a signal to this very process, never to another one that got its pid."""
    try:
        if not LINUX:
            os.kill(seen.pid, number)
            return
        descriptor = -1
        try:
            descriptor = os.pidfd_open(seen.pid)
        except ProcessLookupError:
            return
        except OSError:
            pass  # an old kernel, or a sandbox that has no descriptors of processes
        try:
            now = look_linux(seen.pid)
            if now is None or not same(now.started, seen.started):
                return
            if descriptor >= 0:
                signal.pidfd_send_signal(descriptor, number)
            else:
                os.kill(seen.pid, number)
        finally:
            if descriptor >= 0:
                os.close(descriptor)
    except OSError:
        pass  # it ended meanwhile: the next round shows


def scan(mark: str = "") -> dict[int, Seen]:
    """Return every process that can be seen, by pid, and whether ``mark`` is in its environment."""
    table: dict[int, Seen] = {}
    if not LINUX:
        table = parse_ps(ps("-axww", "-o", "pid=,ppid=,pgid=,uid=,stat=,lstart="))
        for pid in marked_lines(ps("-axEww", "-o", "pid=,command="), mark) if mark else ():
            if pid in table:
                table[pid].marked = True
        return table
    wanted = mark.encode()
    looked: set[str] = set()
    for _ in range(LISTINGS):  # those too that are born meanwhile
        names = set(os.listdir("/proc")) - looked  # noqa: PTH208  (pathlib would double the memory of this process)
        if not names:
            break
        looked |= names
        for pid in sorted((int(name) for name in names if name.isdecimal()), reverse=True):
            seen = look_linux(pid)
            if seen is not None:
                # At once: one that passes itself on by forking is another one a moment later.
                seen.marked = bool(wanted) and wanted in read(f"/proc/{pid}/environ").split(b"\0")
                table[pid] = seen
    return table


def look_linux(pid: int) -> "Seen | None":
    """Read what the kernel tells of ``pid``."""
    data = read(f"/proc/{pid}/stat")
    if not data:
        return None
    try:
        uid = os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116
    except OSError:
        return None
    fields = data[data.rindex(b")") + 2 :].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return Seen(pid, int(fields[1]), int(fields[2]), started, fields[0] in (b"Z", b"X"), uid)


def marked_lines(text: str, mark: str) -> set[int]:
    """Return the pids of lines of ``pid command environment`` that hold ``mark`` as a word."""
    lines = (line.split() for line in text.splitlines())
    return {int(words[0]) for words in lines if mark in words[1:] and words[0].isdecimal()}


def read(path: str) -> bytes:
    """Return what is in a small file, nothing where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        pieces: list[bytes] = []
        while piece := os.read(descriptor, 65536):
            pieces.append(piece)
        return b"".join(pieces)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def ps(*arguments: str) -> str:
    """Run ``ps``, which is how systems without ``/proc`` tell what runs."""
    import subprocess

    done = subprocess.run(["/bin/ps", *arguments], env={"LC_ALL": "C"}, capture_output=True, check=False, timeout=5)
    return done.stdout.decode("utf-8", "replace")


def parse_ps(text: str) -> dict[int, Seen]:
    """Read lines of ``pid ppid pgid uid stat lstart``; ``lstart`` is ``Mon Nov 30 15:47:21 2026``, local time."""
    table: dict[int, Seen] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) != 10:
            continue
        pid, ppid, group, uid = (int(word) for word in words[:4])
        started = time.mktime(time.strptime(" ".join(words[5:]), "%a %b %d %H:%M:%S %Y"))
        table[pid] = Seen(pid, ppid, group, started, words[4].startswith("Z"), uid)
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
