"""Wires one project's parts and its sessions; what every front end opens."""
