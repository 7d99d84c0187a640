"""The record: sessions in one SQLite database, and the audit log.

``store`` keeps and reads sessions, ``recorder`` writes one live session's stream, ``audit`` keeps what was called and
decided. Everything that is written is redacted here.
"""
