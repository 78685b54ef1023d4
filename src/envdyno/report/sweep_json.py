"""The answer of a sweep as one JSON object."""

from __future__ import annotations

import json
import math
from typing import Any

from envdyno.experiment.sweep_judging import SweepAnswer
from envdyno.judge.best_settings import SettingResult

SCHEMA = "envdyno.sweep/1"


def answer_json(answer: SweepAnswer) -> str:
    """Return the answer on one line of strict JSON; what is not known is null."""
    result = answer.result
    body = {
        "schema": SCHEMA,
        "workload": answer.workload,
        "decided": result.is_decided,
        "best": _setting(result.best),
        "cheapest": _setting(result.cheapest),
        "smallest_loss_shown": result.resolution,
        "blocks": result.blocks,
        "settings": [_row(answer, one) for one in result.settings],
        "knees": [
            {"workers_per_node": workers, "threads": threads, "num_envs": size}
            for (workers, threads), size in answer.knees.items()
        ],
        "scouted": [{"num_envs": size, "transitions_per_s": rate} for size, rate in answer.scouted.items()],
        "impossible": [{"reason": reason, "settings": count} for reason, count in answer.impossible.items()],
    }
    return json.dumps(body, allow_nan=False, ensure_ascii=False)


def _setting(one: SettingResult | None) -> dict[str, int] | None:
    return None if one is None else one.setting._asdict()


def _row(answer: SweepAnswer, one: SettingResult) -> dict[str, Any]:
    figures = answer.figures[one.setting]
    ratio, low, high = None, None, None
    if one.log_ratio is not None:
        ratio = math.exp(one.log_ratio)
        if one.half_width is not None:
            low, high = math.exp(one.log_ratio - one.half_width), math.exp(one.log_ratio + one.half_width)
    return {
        **one.setting._asdict(),
        "workers": answer.workers.get(one.setting),
        "standing": one.standing.value,
        "transitions_per_s": one.median_per_s,
        "ratio_to_best": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "step_p50_ms": figures.step_p50_ms,
        "rss_bytes": figures.rss_bytes,
        "transitions_per_cpu_s": figures.transitions_per_cpu_s,
        "n": one.n,
        "planned": answer.result.blocks,
        "failure": figures.failure,
    }
