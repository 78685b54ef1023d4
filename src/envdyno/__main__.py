"""``python -m envdyno``."""

from envdyno.cli.main import main

if __name__ == "__main__":
    main()
