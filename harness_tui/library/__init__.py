"""Commands, templates, skills and mentions: from files on disk to the message of a run."""
