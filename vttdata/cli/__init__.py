"""The command line of vttdata, one module a command."""
