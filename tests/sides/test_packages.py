"""Package sets are compared by name, version and source."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from envdyno.sides.packages import Change, package_differences, package_set, undeclared


def item(name: str, version: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "version": version, "requires": [], "location": "/site", "direct_url": None, **more}


def packages(*items: dict[str, Any]) -> Any:
    return package_set(items, {})


def test_each_kind_of_difference_is_told() -> None:
    editable = {"url": "file:///home/u/project", "dir_info": {"editable": True}}
    first = packages(item("a", "1"), item("b", "1"), item("c", "1"), item("same", "1"))
    second = packages(item("a", "2"), item("c", "1", direct_url=editable), item("d", "1"), item("same", "1"))
    found = {one.name: one for one in package_differences(first, second)}
    assert {name: one.change for name, one in found.items()} == {
        "a": Change.VERSION,
        "b": Change.REMOVED,
        "c": Change.SOURCE,
        "d": Change.ADDED,
    }
    assert str(found["a"]) == "a 1 → 2"
    assert str(found["b"]) == "b 1 → absent"
    assert "editable" in str(found["c"])


def test_names_are_compared_in_their_canonical_form() -> None:
    assert package_differences(packages(item("Some.Package", "1")), packages(item("some_package", "1"))) == ()


def test_installers_do_not_count() -> None:
    assert package_differences(packages(item("pip", "24.0")), packages()) == ()


def test_the_same_version_from_another_commit_is_a_difference() -> None:
    def from_git(commit: str) -> dict[str, Any]:
        return {"url": "https://example.org/a", "vcs_info": {"vcs": "git", "commit_id": commit}}

    first, second = (packages(item("a", "1", direct_url=from_git(commit))) for commit in ("aaa", "bbb"))
    assert package_differences(first, second)[0].change is Change.SOURCE
    assert first.digest != second.digest


def test_credentials_in_urls_do_not_get_into_records() -> None:
    one = packages(item("a", "1", direct_url={"url": "https://user:token@example.org/a.whl"}))
    assert "token" not in str(one.to_json())
    assert "example.org" in str(one.to_json())


def test_declared_differences_are_set_apart() -> None:
    differences = package_differences(packages(item("a-b", "1"), item("c", "1")), packages(item("a-b", "2")))
    assert [one.name for one in undeclared(differences, ["A_B"])] == ["c"]


def test_the_first_on_the_import_path_counts() -> None:
    both = packages(item("a", "2", location="/tree"), item("a", "1"))
    assert both.versions == {"a": "2"}
    assert both.doubled == ()


versions = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["1", "2", "3"]))


@given(versions, versions)
def test_no_difference_means_an_equal_digest_and_the_other_way_round(
    one: dict[str, str], two: dict[str, str]
) -> None:
    first, second = (
        packages(*(item(name, version) for name, version in found.items())) for found in (one, two)
    )
    differences = package_differences(first, second)
    assert (differences == ()) == (first.digest == second.digest)
    assert {d.name for d in differences} == {name for name in {*one, *two} if one.get(name) != two.get(name)}


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_digest_does_not_depend_on_the_order_on_disk(names: list[str]) -> None:
    assert (
        packages(*(item(name, "1") for name in names)).digest
        == packages(*(item(n, "1") for n in "abcd")).digest
    )
