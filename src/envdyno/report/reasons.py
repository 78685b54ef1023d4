"""Why cases have the verdicts that they have, and what stands beside them, each with what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdyno.experiment.judging import Judgement
from envdyno.judge.reasons import Alarm, ReasonCode, explain
from envdyno.judge.verdicts import Verdict
from envdyno.record.experiment import ExperimentRecord
from envdyno.report.sentences import finished

NO_RESULT = frozenset({Verdict.NOT_MEASURED, Verdict.INCOMPARABLE})
WHAT_TO_DO = "What would help:"


def reason_notes(head: ExperimentRecord, judgement: Judgement, *, judged: bool) -> Iterator[str]:
    """Yield the reason of every case that did not pass, then every alarm.

    Args:
        head: the head of the bundle.
        judgement: of one side.
        judged: whether a gate was asked for; without one only what has no result is told.
    """
    for case in judgement.report.cases:
        if (judged and case.verdict is not Verdict.PASS) or case.verdict in NO_RESULT:
            reason = finished(head.cannot_run.get(case.case) or case.message)
            remedy = explain(case.code).what_would_change_it
            yield f"{case.case}: {case.verdict.name} ({case.code.name}). {reason} {WHAT_TO_DO} {remedy}"
        if case.exception is not None and judged:
            until = case.exception.expires.isoformat()
            yield (
                f"{case.case}: held against {case.exception.min_ratio:g} by an exception of "
                f"{case.exception.owner} until {until}: {case.exception.reason}"
            )
    # That a case which cannot run has no pairs is said already, and going on would not make any.
    runnable = [case for case in judgement.report.cases if case.case not in head.cannot_run]
    alarms = [*judgement.report.alarms, *(alarm for case in runnable for alarm in case.alarms)]
    yield from _alarms(alarms)


def _alarms(alarms: Sequence[Alarm]) -> Iterator[str]:
    """Yield every alarm once; what to do stands behind the last of its kind."""
    by_code: dict[ReasonCode, list[str]] = {}
    for alarm in dict.fromkeys(alarms):
        by_code.setdefault(alarm.code, []).append(finished(alarm.message))
    for code, messages in by_code.items():
        shown = messages if len(messages) <= SHOWN_ALIKE else messages[:SHOWN_ALIKE]
        more = f" The same of {len(messages) - len(shown)} more." if len(messages) > len(shown) else ""
        remedy = explain(code).what_would_change_it
        yield f"{' '.join(shown)}{more} {WHAT_TO_DO} {remedy} ({code.name})"


SHOWN_ALIKE = 5
"""So many alarms of one kind are shown in full."""
