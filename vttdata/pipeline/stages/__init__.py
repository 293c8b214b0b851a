"""The stages builders compose, one a file: each wraps one thing that a room can do."""
