"""Command line of vttdata: each module that defines `command` is a command, discovered automatically."""
