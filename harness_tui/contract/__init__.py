"""The protocol contract: the schema of what Harness sends and takes, made from the code, and its drift check."""
