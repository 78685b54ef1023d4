"""The texts of the alarms, which come beside a verdict: meaning, and what would change it. Data only."""

from __future__ import annotations

from envdyno.judge.reason_texts import ReasonText

__all__ = ["ALARM_TEXTS"]

ALARM_TEXTS: dict[str, ReasonText] = {
    "BATCH_SHIFT": ReasonText(
        None,
        "From one run to the next the machine changed its speed for both sides, and stayed there. Pairs "
        "before and after the shift are each sound; absolute figures of the two batches must not be "
        "mixed.",
        "Look for what changed at that time: clock, thermal limit, another process, memory layout.",
    ),
    "MACHINE_TREND": ReasonText(
        None,
        "Both sides became steadily faster or slower over the experiment. Counterbalanced pairs cancel it.",
        "Warm the machine up, fix its clock, or measure for longer.",
    ),
    "RATIO_TREND": ReasonText(
        None,
        "The ratio itself moved over the pairs, so that one number does not describe it.",
        "Measure longer; look for state that one side keeps between runs, such as caches.",
    ),
    "POSITION_EFFECT": ReasonText(
        None,
        "The run in the first place of a pair was systematically faster or slower than that in the "
        "second. From six pairs on the ratio is corrected for it.",
        "A pause or a warm-up between runs; find out what one run leaves behind for the next.",
    ),
    "WITHIN_RUN_TREND": ReasonText(
        None,
        "Throughput changed within the measured window: throttling, a leak, or a late compilation.",
        "A longer warm-up, or a look at the run's series in the bundle.",
    ),
    "ONE_SIDED": ReasonText(
        None,
        "All cases moved by about the same factor. A change of code rarely does that, a change of the "
        "host does: another clock, another compiler, another load on one side.",
        "Compare the fingerprints of the runs; an A/A experiment shows whether the sides are treated alike.",
    ),
    "HOST_MOVED": ReasonText(
        None,
        "Since the earlier bundle the same software became faster or slower, and so did the canary: the "
        "host changed, not the code. Ratios within each bundle stay sound.",
        "Compare only ratios across these bundles.",
    ),
    "CASE_MOVED": ReasonText(
        None,
        "Since the earlier bundle this case's control side became faster or slower, and the canary did "
        "not or was not there. The case itself drifts, more than many a change that one would measure "
        "with it.",
        "Measure base and head together; do not compare head of one bundle with base of the other.",
    ),
    "CANARY_MOVED": ReasonText(
        None,
        "Pairs were left out because the canary changed speed between their two runs.",
        "A quieter machine.",
    ),
    "DISTURBED_RUNS": ReasonText(
        None,
        "Runs had more foreign load than the limit that was fixed beforehand. They are in the bundle, and "
        "the report says whether they are in the ratio.",
        "A quiet machine, or --wait-idle.",
    ),
    "PAIRS_INCOMPLETE": ReasonText(
        None,
        "Fewer pairs than planned are part of the ratio.",
        "Go on with --resume.",
    ),
    "RUN_RETRIED": ReasonText(
        None,
        "A run failed and a repeat of it succeeded. The ratio uses the repeat.",
        "The failed run's record and log say why.",
    ),
    "INTERVALS_DISAGREE": ReasonText(
        None,
        "The t interval and the distribution-free interval lie differently to the gate. The t interval "
        "decides; that the other one differs means that the pairs are few or far from normal.",
        "More pairs.",
    ),
    "BLOCKED_ORDER": ReasonText(
        None,
        "All runs of one side came before those of the other, on request. A change of the machine in "
        "between would look like a change of the code.",
        "Paired order, which is the default.",
    ),
    "POINT_RULE": ReasonText(
        None,
        "The verdict is by the plain rule, median against gate, and takes no account of noise.",
        "Judge with --rule interval.",
    ),
    "WORK_TO_READ": ReasonText(
        None,
        "The sides' work differs in facts that do not forbid a comparison but belong to it, such as "
        "rewards, episode lengths or engine dispatches per step.",
        "Nothing, if the difference is meant.",
    ),
    "RESET_NOT_COVERED": ReasonText(
        None,
        "No environment was reset in any window: the figures say nothing about the cost of resets.",
        "A longer window, or staggered episode starts.",
    ),
    "AA_BIASED": ReasonText(
        None,
        "With the same software on both sides the ratio is not one. The sides are not treated alike.",
        "Look for what differs: path lengths, caches, order, environment variables.",
    ),
    "EXCEPTION_UNMATCHED": ReasonText(
        None,
        "The gate has an exception for a case that this experiment does not have. It had no effect.",
        "Remove it, or correct the case's name.",
    ),
    "EXCEPTION_NOT_NEEDED": ReasonText(
        None,
        "The case meets the ordinary gate; its exception had no effect.",
        "Remove the entry.",
    ),
    "UNPAIRED": ReasonText(
        None,
        "The sides' figures have no partners: a drift of the machine between them is part of the difference.",
        "Measure both sides in one experiment with pairs.",
    ),
    "FORCED": ReasonText(
        None,
        "Sides that are not comparable were compared on request. The figure supports no verdict.",
        "Measure again under equal conditions.",
    ),
    "NOT_RECONCILED": ReasonText(
        None,
        "The change seen in attribution runs is not the change seen in throughput runs: the timers "
        "themselves, or another machine state, are part of it.",
        "Fewer timers; attribution runs close in time to throughput runs.",
    ),
    "OVERLAPPING_PHASES": ReasonText(
        None,
        "Phases inside another one take longer together than that one: they overlap or are counted twice.",
        "Correct the nesting of the timers, or read wall times of parallel phases as CPU times.",
    ),
    "MIXED_PHASES": ReasonText(
        None,
        "Attribution runs of one side had different configurations, such as other probes. Their phases are "
        "not of the same measurement, and the split mixes them. Throughput runs have no phases, and the "
        "verdict is not touched.",
        "Measure all attribution runs of a case with the same probes and clock.",
    ),
}
