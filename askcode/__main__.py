"""Run askcode as `python -m askcode`."""

from askcode.cli import main

if __name__ == "__main__":
    main()
