"""Exit codes of the command line, which scripts rely on."""

DONE = 0
INCOMPLETE = 1
BAD_INPUT = 2
LEAKS = 3
DIFFERENT = 4
INTERRUPTED = 130

SUMMARY = (
    "Exit codes: 0 done; 1 not all of it could be done; 2 bad usage, recipe or input; 3 an audit found leaks; "
    "4 what was compared differs; 130 interrupted."
)
