"""The base that every other package stands on: values, events, seams and text rules.

Standard library only, and nothing here starts a process, opens a socket or draws.
"""
