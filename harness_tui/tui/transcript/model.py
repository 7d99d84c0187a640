"""What the transcript shows, as plain data: blocks in order, and which of them changed since the view looked.

Every text in here is cleaned for display already. A block's ``version`` grows with each change, so that whoever draws
can keep what it has drawn. The model is never pruned; the view draws only what is in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(slots=True, eq=False)
class Block:
    """The base of every block. ``index`` is its place in the model; ``after_call``: a call stands before it.

    ``folds``: it may hide a part of itself. ``undone``: its run was taken back.
    """

    is_call: ClassVar[bool] = False
    folds: ClassVar[bool] = False
    version: int = field(default=0, init=False)
    index: int = field(default=-1, init=False)
    folded: bool = field(default=True, init=False)
    after_call: bool = field(default=False, init=False)
    undone: bool = field(default=False, init=False)

    @property
    def size(self) -> int:
        """Return the rough number of characters that it shows, for estimates of its height."""
        return 40


@dataclass(frozen=True, slots=True)
class Changes:
    """What the view must look at: everything from ``first_new`` on, and ``touched`` blocks before it."""

    first_new: int
    touched: tuple[Block, ...]
    reset: bool


class TranscriptModel:
    """The blocks in order. Whoever changes a block calls :meth:`touch`."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._first_new = 0
        self._touched: dict[int, Block] = {}
        self._reset = True

    def add(self, block: Block) -> None:
        """Append ``block``."""
        block.index = len(self.blocks)
        block.after_call = bool(self.blocks) and self.blocks[-1].is_call
        self.blocks.append(block)

    def touch(self, block: Block) -> None:
        """Tell that ``block`` changed."""
        block.version += 1
        if 0 <= block.index < self._first_new:
            self._touched[block.index] = block

    def replace(self, index: int, blocks: Sequence[Block]) -> None:
        """Put ``blocks`` in the place of the one at ``index``; those after it move."""
        if blocks:
            blocks[0].after_call = self.blocks[index].after_call
        self.blocks[index : index + 1] = blocks
        for place in range(index, len(self.blocks)):
            self.blocks[place].index = place
        self._first_new = min(self._first_new, index)
        self._touched = {place: block for place, block in self._touched.items() if place < index}

    def cut(self, index: int) -> None:
        """Forget the blocks from ``index`` on."""
        del self.blocks[index:]
        self._first_new = min(self._first_new, index)
        self._touched = {place: block for place, block in self._touched.items() if place < index}

    def clear(self) -> None:
        """Forget every block."""
        self.blocks.clear()
        self._touched.clear()
        self._first_new, self._reset = 0, True

    def reset_changes(self) -> None:
        """Make the next look one at everything: another view begins."""
        self._touched.clear()
        self._first_new, self._reset = 0, True

    def take_changes(self) -> Changes:
        """Return what changed since the last call."""
        changes = Changes(self._first_new, tuple(self._touched.values()), self._reset)
        self._first_new, self._reset = len(self.blocks), False
        self._touched.clear()
        return changes
