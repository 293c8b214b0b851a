#!/bin/sh
# Print the path of the newest Python from 3.12 on that the machine has, found by name; fail without one.
for minor in 20 19 18 17 16 15 14 13 12; do
  # PYENV_VERSION lets pyenv start a version that is installed and not selected.
  path=$(PYENV_VERSION=3.$minor "python3.$minor" -c 'import ensurepip, sys; print(sys.executable)' 2>/dev/null) && echo "$path" && exit
done
exit 1
