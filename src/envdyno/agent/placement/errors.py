"""What the placement package raises."""


class PlacementError(ValueError):
    """A placement was asked for that this machine cannot give; the message names both sides."""


class RestoreError(RuntimeError):
    """A mask or a policy could not be put back; the message says what state the process is in."""
