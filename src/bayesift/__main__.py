"""``python -m bayesift``: the command line where the script is not on the path."""

from bayesift.cli import main

if __name__ == "__main__":
    main()
