"""The texts of the reason codes that come with a verdict: meaning, and what would change it. Data only."""

from __future__ import annotations

from typing import NamedTuple

from envdyno.judge.verdicts import Verdict

__all__ = ["VERDICT_TEXTS", "ReasonText"]


class ReasonText(NamedTuple):
    """The prose of one code."""

    verdict: Verdict | None
    """``None`` for an alarm."""
    meaning: str
    change: str


_P, _F, _U = Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED
_I, _N = Verdict.INCOMPARABLE, Verdict.NOT_MEASURED

VERDICT_TEXTS: dict[str, ReasonText] = {
    "LOWER_BOUND_MEETS_GATE": ReasonText(
        _P,
        "The lower one-sided 95 % bound of the ratio is at or above the gate. If the true ratio were "
        "below the gate, pairs like these would come up in at most 5 % of such experiments.",
        "Only a stricter gate, or other measurements.",
    ),
    "MEDIAN_MEETS_GATE": ReasonText(
        _P,
        "The median of the pairs' ratios is at or above the gate. This is the plain rule (--rule point), "
        "which takes no account of noise: at the gate's edge it errs half of the time.",
        "Judge with --rule interval to know how sure this is.",
    ),
    "UPPER_BOUND_BELOW_GATE": ReasonText(
        _F,
        "The upper one-sided 95 % bound of the ratio is below the gate, after Holm's correction for the "
        "number of cases. The head side is slower than the gate allows.",
        "Faster code. If the loss is accepted, an exception for this case with bound, reason, owner and "
        "expiry.",
    ),
    "MEDIAN_BELOW_GATE": ReasonText(
        _F,
        "The median of the pairs' ratios is below the gate. This is the plain rule (--rule point), which "
        "takes no account of noise: at the gate's edge it errs half of the time.",
        "Faster code, or judge with --rule interval to know how sure this is.",
    ),
    "EXCEPTION_EXPIRED": ReasonText(
        _F,
        "The gate has an exception for this case whose expiry date has passed. The case was judged by the "
        "ordinary gate, and the stale entry itself fails.",
        "Remove the entry, or renew its expiry date with a reason that still holds.",
    ),
    "INTERVAL_SPANS_GATE": ReasonText(
        _U,
        "The gate lies inside the interval of the ratio: these pairs show neither that the case meets it "
        "nor that it does not.",
        "About as many more pairs as the report says, a quieter machine, or longer windows.",
    ),
    "RATIO_AT_GATE": ReasonText(
        _U,
        "The ratio lies so close to the gate that no reasonable number of pairs would separate them.",
        "Another gate. Whether a case that sits on the gate passes is a decision, not a measurement.",
    ),
    "NOISE_TOO_LARGE": ReasonText(
        _U,
        "The runs differ so much among themselves that the planned number of pairs cannot show a change as "
        "small as the one the gate asks about, even if the sides were equal.",
        "A quieter machine, longer windows, more pairs, or a wider gate.",
    ),
    "TOO_FEW_PAIRS": ReasonText(
        _U,
        "Fewer complete pairs than a verdict needs. A single run of a side says nothing about noise, and "
        "two pairs nearly nothing.",
        "At least three pairs; six is the default.",
    ),
    "ALL_PAIRS_VOID": ReasonText(
        _U,
        "The canary changed speed within every pair: the machine moved while the sides were compared.",
        "A quiet machine: nothing else running, fixed clock, --wait-idle.",
    ),
    "GATE_TIGHTER_THAN_NOISE": ReasonText(
        _U,
        "The gate asks about a change smaller than the smallest one that this machine can show for this "
        "case, by its own A/A measurement and the pairs that are planned.",
        "A wider gate, more pairs, longer windows, or a quieter machine and a new A/A measurement there.",
    ),
    "ESTIMATORS_DISAGREE": ReasonText(
        _U,
        "Mean, median and Hodges-Lehmann estimate of the ratio do not lie on the same side of the gate. "
        "The figures come in clusters or have outliers, and which number stands for them decides the "
        "answer.",
        "Find out what makes the clusters (the raw runs are in the bundle), or more pairs.",
    ),
    "LOOKS_DISAGREE": ReasonText(
        _U,
        "An earlier look at fewer pairs showed one verdict, a later look the opposite. The sides or the "
        "machine changed during the experiment.",
        "Read the drift alarms, and measure again.",
    ),
    "NOT_AFTER_CORRECTION": ReasonText(
        _U,
        "By itself this case would fail, but among so many cases one such result is to be expected by "
        "chance (Holm's correction).",
        "More pairs, or a gate on this case alone that was fixed beforehand.",
    ),
    "DRIFT_IN_BLOCKED_ORDER": ReasonText(
        _U,
        "All runs of one side came before those of the other, and the machine drifted in that time. What "
        "the drift did and what the code did cannot be told apart.",
        "Paired order, which is the default.",
    ),
    "NOT_CONFIRMED": ReasonText(
        _U,
        "The case failed in one experiment and did not fail in the one that was to confirm it.",
        "A third experiment with more pairs.",
    ),
    "IDENTITY_DIFFERS": ReasonText(
        _I,
        "Fields that must be equal for a comparison are not, such as configuration, actions, window or a "
        "package that nobody declared to differ.",
        "Make the named fields equal, or declare the difference as part of what is compared.",
    ),
    "DIFFERENT_MACHINES": ReasonText(
        _I,
        "The figures come from different machines. Absolute figures never travel between machines; ratios "
        "that were measured within each may be set side by side.",
        "Measure both sides on one machine.",
    ),
    "SIDES_LOAD_SAME_CODE": ReasonText(
        _I,
        "Both sides loaded the same code, so there is nothing to compare.",
        "Correct the sides' refs or paths; to measure noise on purpose, use --aa.",
    ),
    "DIRTY_TREE": ReasonText(
        _I,
        "A side's tree differed from the commit that the record names, so nobody could repeat this.",
        "Commit the change, or allow dirty trees, which is then shown.",
    ),
    "REVISION_UNKNOWN": ReasonText(
        _I,
        "It could not be found out which revision a side was, so the result belongs to nothing.",
        "The record holds the version control's own message; correct what it names.",
    ),
    "MIXED_CONFIGS": ReasonText(
        _I,
        "Runs of one side had different effective configurations. Their figures are no repetitions of "
        "each other.",
        "Measure all runs of a case with one configuration.",
    ),
    "WORK_DIFFERS": ReasonText(
        _I,
        "The sides did not do the same work: other substeps, other sizes or other specs.",
        "Align the sides' configurations; the report lists the facts that differ.",
    ),
    "IMPLAUSIBLE_GAIN": ReasonText(
        _I,
        "The head side is faster than is plausible, and it was not shown that it did the same work. Such "
        "gains mostly come from work left out.",
        "An observation hash that is equal on both sides, or a higher limit for plausible gains.",
    ),
    "CASE_MISSING": ReasonText(
        _N,
        "The gate names a case of which there is no run. A gate that skips what it cannot find enforces "
        "nothing.",
        "Measure the case, or take it off the gate.",
    ),
    "NO_BASELINE": ReasonText(
        _N,
        "There is no run of the base side to compare with. Another branch's figures are never taken instead.",
        "Measure the base side.",
    ),
    "RUN_FAILED": ReasonText(
        _N,
        "A run failed, timed out or was killed, and no repeat of it succeeded. Software that sometimes "
        "fails does not pass on the strength of the runs that did not.",
        "The run's record names stage and reason, its log the rest.",
    ),
    "RUN_INVALID": ReasonText(
        _N,
        "A run came to its end with figures that mean nothing, for instance because states became non- "
        "finite.",
        "Correct the workload; non-finite rows can be allowed explicitly.",
    ),
    "NO_COMPLETE_PAIR": ReasonText(
        _N,
        "No pair has a run of both sides, because the experiment was interrupted or runs were skipped.",
        "Go on with --resume.",
    ),
    "NO_SAMPLES": ReasonText(
        _N,
        "The file has a summary only, and no figures of single runs; nothing can be said about noise.",
        "Save the raw figures: the report names the option of the tool that wrote the file.",
    ),
}
