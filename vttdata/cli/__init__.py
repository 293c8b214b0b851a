"""Command line of vttdata: one module for each command, found by being here and defining `command`."""
