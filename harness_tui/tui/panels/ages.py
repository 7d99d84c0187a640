"""How long something has been going on, as the panels show it."""

from __future__ import annotations

from datetime import datetime


def age_of(started: str, now: datetime) -> str:
    """Return the time since ``started`` (RFC 3339) as ``h:mm:ss``, empty where it cannot be read."""
    try:
        seconds = max(0, int((now - datetime.fromisoformat(started)).total_seconds()))
    except (ValueError, TypeError):
        return ""
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
