"""What holds for every machine, however odd, and every wish that is not refused."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.placement.caches import CacheDomain
from envdyno.agent.placement.choice import Choice, choose
from envdyno.agent.placement.cores import CoreClass
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import Limits
from envdyno.agent.placement.nodes import Node
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Request, Smt
from envdyno.agent.placement.shares import even_sizes, share_out, thread_counts
from envdyno.agent.placement.topology import Synthetic, Topology

CASES = settings(max_examples=120)
CPUS = st.frozensets(st.integers(0, 40), min_size=1, max_size=14)


def _partition(draw: st.DrawFn, cpus: list[int], parts: int) -> list[tuple[int, ...]]:
    """Any division of the CPUs; parts may be empty."""
    where = [draw(st.integers(0, parts - 1)) for _ in cpus]
    return [
        tuple(cpu for cpu, part in zip(cpus, where, strict=True) if part == index) for index in range(parts)
    ]


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Machines with any ids, any division into nodes, cores, caches and classes, well-formed or not."""
    cpus = sorted(draw(CPUS))
    ids = sorted(draw(st.frozensets(st.integers(0, 130), min_size=1, max_size=4)))
    nodes = tuple(
        Node(
            node,
            members,
            draw(st.sampled_from([0, 1 << 30, None])),
            None,
            None,
            {other: draw(st.integers(10, 40)) for other in ids} if draw(st.booleans()) else {},
        )
        for node, members in zip(ids, _partition(draw, cpus, len(ids)), strict=True)
    )
    cores = tuple(core for core in _partition(draw, cpus, draw(st.integers(1, len(cpus)))) if core)
    caches = tuple(CacheDomain(part, None) for part in _partition(draw, cpus, 3) if part)
    kinds = [part for part in _partition(draw, cpus, 2) if part]
    classes = tuple(CoreClass(f"class{index}", part, None, None) for index, part in enumerate(kinds))
    return Topology(
        nodes=nodes,
        cpus=tuple(cpus),
        offline=(),
        isolated=tuple(sorted(draw(st.frozensets(st.sampled_from(cpus), max_size=2)))),
        siblings=cores,
        core_classes=classes if len(classes) > 1 else (),
        l3_domains=caches,
        gpus=(),
        synthetic=Synthetic.NO,
        synthetic_reason=None,
        numa_balancing=None,
        problems=(),
    )


@st.composite
def limits_for(draw: st.DrawFn, topology: Topology) -> Limits:
    """Any mask, memory nodes and quota."""
    masks = st.frozensets(st.integers(0, 45), min_size=1).map(lambda ids: tuple(sorted(ids)))
    affinity = draw(st.none() | st.just(topology.cpus) | masks)
    ids = [node.id for node in topology.nodes]
    mems = draw(
        st.none() | st.frozensets(st.sampled_from(ids), min_size=1).map(lambda ids: tuple(sorted(ids)))
    )
    quota = draw(st.none() | st.floats(0.1, 30.0))
    usable = len(affinity or topology.cpus)
    effective = usable if quota is None else max(1, min(usable, math.ceil(quota)))
    return Limits(affinity, affinity, mems, quota, None, None, None, effective, {})


@st.composite
def situations(draw: st.DrawFn) -> tuple[Topology, Limits, Request]:
    """A machine, limits and a wish."""
    topology = draw(topologies())
    named = st.frozensets(st.sampled_from(topology.cpus), min_size=1).map(lambda ids: tuple(sorted(ids)))
    listed = st.sampled_from([str(node.id) for node in topology.nodes])
    request = Request(
        numa=draw(st.sampled_from(["auto", "auto", "off", "per-l3", "per-class"]) | listed),
        workers_per_node=draw(st.sampled_from([1, 1, 1, 1, 2, 3])),
        cpus=draw(st.none() | st.none() | named),
        smt=draw(st.sampled_from(Smt)),
        memory=draw(st.sampled_from(MemoryPolicy)),
    )
    return topology, draw(limits_for(topology)), request


def chosen(situation: tuple[Topology, Limits, Request]) -> Choice | None:
    """The choice, or None when the wish is refused (always by PlacementError)."""
    topology, limits, request = situation
    try:
        return choose(topology, limits, request, environ={})
    except PlacementError:
        return None


@CASES
@given(situations())
def test_no_placement_has_a_cpu_that_is_not_allowed_online_and_wished_for(
    situation: tuple[Topology, Limits, Request],
) -> None:
    topology, limits, request = situation
    choice = chosen(situation)
    for placement in choice.placements if choice else ():
        cpus = set(placement.cpus)
        assert cpus <= set(topology.cpus)
        assert limits.affinity is None or cpus <= set(limits.affinity)
        if request.cpus is None:
            assert not cpus & set(topology.isolated)
        else:
            assert cpus <= set(request.cpus)


@CASES
@given(situations())
def test_no_cpu_and_no_core_is_in_two_placements(situation: tuple[Topology, Limits, Request]) -> None:
    topology = situation[0]
    choice = chosen(situation)
    core_of = {cpu: core for core in topology.siblings for cpu in core}
    owner: dict[tuple[int, ...], int] = {}
    for placement in choice.placements if choice else ():
        assert len(set(placement.cpus)) == len(placement.cpus)
        for cpu in placement.cpus:
            assert owner.setdefault(core_of[cpu], placement.worker) == placement.worker


@CASES
@given(situations())
def test_smt_off_gives_no_worker_two_threads_of_a_core(situation: tuple[Topology, Limits, Request]) -> None:
    topology, limits, request = situation
    choice = chosen((topology, limits, dataclasses.replace(request, smt=Smt.OFF)))
    for placement in choice.placements if choice else ():
        assert all(len(set(core) & set(placement.cpus)) <= 1 for core in topology.siblings)


@CASES
@given(situations())
def test_a_bound_worker_has_cpus_of_one_node(situation: tuple[Topology, Limits, Request]) -> None:
    topology = situation[0]
    choice = chosen(situation)
    for placement in choice.placements if choice else ():
        if placement.node is not None:
            node = topology.node(placement.node)
            assert node is not None
            assert placement.cpus
            assert set(placement.cpus) <= set(node.cpus)


@CASES
@given(situations())
def test_memory_nodes_are_allowed_and_have_memory(situation: tuple[Topology, Limits, Request]) -> None:
    topology, limits, _ = situation
    choice = chosen(situation)
    for placement in choice.placements if choice else ():
        for wanted in placement.memory_nodes:
            node = topology.node(wanted)
            assert node is not None
            assert node.has_memory
            assert limits.mems_allowed is None or wanted in limits.mems_allowed
        if placement.policy is MemoryPolicy.BIND and placement.memory_nodes:
            assert placement.memory_nodes == (placement.node,)


@CASES
@given(situations())
def test_every_allowed_cpu_is_in_a_placement_or_named_as_idle(
    situation: tuple[Topology, Limits, Request],
) -> None:
    topology, limits, _ = situation
    choice = chosen(situation)
    if choice is None or any(not placement.cpus for placement in choice.placements):
        return
    used = {cpu for placement in choice.placements for cpu in placement.cpus}
    allowed = set(topology.cpus) & set(limits.affinity if limits.affinity is not None else topology.cpus)
    assert used | set(choice.idle_cpus) == allowed
    assert not used & set(choice.idle_cpus)


@CASES
@given(situations())
def test_threads_fit_the_cpus_and_the_quota(situation: tuple[Topology, Limits, Request]) -> None:
    limits = situation[1]
    choice = chosen(situation)
    if choice is None:
        return
    threads = [placement.threads for placement in choice.placements]
    assert all(count >= 1 for count in threads)
    assert all(item.threads <= len(item.cpus) for item in choice.placements if item.cpus)
    if limits.quota_cpus is not None:
        assert sum(threads) <= max(math.ceil(limits.quota_cpus), len(threads))


@CASES
@given(situations())
def test_workers_are_numbered_and_every_node_is_placed_or_skipped(
    situation: tuple[Topology, Limits, Request],
) -> None:
    topology, _, request = situation
    choice = chosen(situation)
    if choice is None:
        return
    assert [placement.worker for placement in choice.placements] == list(range(len(choice.placements)))
    if request.numa == "auto":
        placed = {placement.node for placement in choice.placements}
        skipped = {item.node for item in choice.skipped}
        assert placed | skipped == {node.id for node in topology.nodes}
        assert not placed & skipped


@CASES
@given(st.integers(0, 200), st.integers(1, 30))
def test_even_sizes_add_up_and_differ_by_one_at_most(total: int, parts: int) -> None:
    sizes = even_sizes(total, parts)
    assert sum(sizes) == total
    assert max(sizes) - min(sizes) <= 1


@CASES
@given(st.lists(st.integers(1, 20), min_size=1, max_size=12), st.floats(0.05, 300.0) | st.none())
def test_thread_counts_use_the_quota_up_and_never_exceed_the_cpus(
    cpus: list[int], quota: float | None
) -> None:
    counts = thread_counts(cpus, quota)
    assert all(1 <= count <= size for count, size in zip(counts, cpus, strict=True))
    budget = sum(cpus) if quota is None else min(sum(cpus), max(math.ceil(quota), len(cpus)))
    assert sum(counts) == budget


@CASES
@given(st.integers(1, 40), st.integers(1, 10), st.integers(1, 3))
def test_shares_are_all_the_cores_in_order(cores: int, workers: int, width: int) -> None:
    grouped = [tuple(range(core * width, (core + 1) * width)) for core in range(max(cores, workers))]
    shares = share_out(grouped, workers)
    assert len(shares) == workers
    assert [cpu for share in shares for cpu in share] == [cpu for core in grouped for cpu in core]


@CASES
@given(situations())
def test_a_refusal_is_a_finished_sentence(situation: tuple[Topology, Limits, Request]) -> None:
    topology, limits, request = situation
    wish = dataclasses.replace(request, workers_per_node=50, numa="auto")
    with pytest.raises(PlacementError) as caught:
        choose(topology, limits, wish, environ={})
    assert str(caught.value).endswith(".")


def test_minimums_of_one_thread_are_paid_by_the_largest_worker() -> None:
    assert thread_counts([100, 1, 1], 3.0) == (1, 1, 1)
    assert thread_counts([100, 1, 1], 5.0) == (3, 1, 1)
