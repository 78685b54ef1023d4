"""In which order the sides of a pair run, so that position and drift fall on all sides alike."""

from __future__ import annotations

from envdyno.plan.sections import Order

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def side_order(sides: int, pair: int, offset: int, order: Order) -> tuple[int, ...]:
    """Return the numbers of the sides in the order in which they run in one pair.

    Args:
        sides: how many there are.
        pair: number of the pair, from 0.
        offset: where in the design a case starts; differs from case to case.
        order: blocked order keeps the sides in the plan's order.
    """
    if order is Order.BLOCKED:
        return tuple(range(sides))
    design = balanced_orders(sides)
    return design[(pair + offset) % len(design)]


def balanced_orders(sides: int) -> tuple[tuple[int, ...], ...]:
    """Return orders in which every side stands equally often in every place, and after every other side.

    A Williams design: for two sides AB and BA; n orders for an even number, 2n for an odd one.
    Source: E. J. Williams, Experimental designs balanced for the estimation of residual effects of
    treatments, Australian Journal of Scientific Research A 2 (1949) 149-168.
    """
    zigzag = [(step + 1) // 2 if step % 2 else (sides - step // 2) % sides for step in range(sides)]
    rows = [tuple((place + shift) % sides for place in zigzag) for shift in range(sides)]
    if sides % 2:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)


def label(order: tuple[int, ...]) -> str:
    """Write an order with a letter for each side, in the plan's order: ``AB``."""
    return "".join(_LETTERS[side] if side < len(_LETTERS) else f"[{side}]" for side in order)
