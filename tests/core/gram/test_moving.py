"""Samples that move through a system, against inverses of the matrix they leave behind."""

import numpy as np
import pytest

import gramian.core.gram._moving as moving_module
from gramian.core.gram import LiveSystem
from gramian.core.gram._moving import MovingSystem
from tests.core.gram.conftest import gram, inverse_tolerance, row_block

MANY = 400


def make_system(n=30, *, ridge=0.5, factor="auto", columns=1):
    """A system of the first n of many samples, with their whole matrix and right-hand sides."""
    A = gram(MANY, ridge=ridge)
    B = np.column_stack([np.ones(MANY), np.random.default_rng(1).standard_normal((MANY, columns))])
    block = row_block(A)
    return LiveSystem(np.diagonal(A)[:n].copy(), block, B[:n], factor), A, B


def move(moving, A, B, steps, leaves=True):
    """Move on through the samples of A in their order; whether all steps were made."""
    for _ in range(steps):
        first, new = moving.span
        k = np.zeros(len(moving.held))
        k[moving.slots] = A[new, first:new]
        if moving.due and not moving.check():
            return False
        oldest, free = moving.places()
        leaving = oldest if leaves else None
        if not moving.step(leaving, free, k, k @ moving.S, B[new], A[new, new]):
            return False
        moving.span = first + leaves, new + 1
        if leaves:
            moving.wipe(oldest)
        moving.whole = True
    return True


def assert_solved(system, A, B, first, n):
    """The system is that of samples first … first + n − 1."""
    some = slice(first, first + n)
    part = A[some, some]
    np.testing.assert_array_equal(system.B, B[some])
    np.testing.assert_array_equal(system.factor.rows(np.arange(n)), part)
    exact, atol = np.linalg.inv(part), inverse_tolerance(part, updates=2 * (first + n))
    np.testing.assert_allclose(system.factor.apply_inverse(np.eye(n)), exact, atol=atol)
    np.testing.assert_allclose(system.factor.diagonal(), np.diagonal(exact), atol=atol)
    np.testing.assert_allclose(system.solution(), exact @ B[some], atol=10 * atol)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("n", [2, 30, 200])  # updates of the last are deferred
def test_steps_give_the_inverse_of_what_is_held(n, columns):
    system, A, B = make_system(n, columns=columns)
    moving = MovingSystem(system, system.n)
    assert move(moving, A, B, 3)
    assert moving.S[moving.slots].shape == (n, 1 + columns)
    assert move(moving, A, B, 97)
    moving.settle()
    assert_solved(system, A, B, 100, n)
    assert system.edits == 200


def test_a_settled_system_learns_and_forgets():
    system, A, B = make_system(20)
    moving = MovingSystem(system, system.n)
    move(moving, A, B, 31)
    moving.settle()
    some = np.arange(31, 51)
    system.append(A[np.ix_(some, [60])], A[np.ix_([60], [60])], B[[60]])
    system.remove(np.array([4, 7]))
    held = np.append(np.delete(some, [4, 7]), 60)
    part = A[np.ix_(held, held)]
    atol = inverse_tolerance(part, updates=65)
    np.testing.assert_allclose(system.solution(), np.linalg.solve(part, B[held]), atol=10 * atol)


def test_nothing_is_left_of_samples_that_left():
    for n in (20, 200):
        system, A, B = make_system(n)
        moving = MovingSystem(system, system.n)
        move(moving, A, B, 30)
        held = np.zeros(len(moving.held), dtype=bool)
        held[moving.slots] = True
        for array in (moving.P, moving.P.T, moving.B, moving.S, moving._W):
            assert not array[~held].any()


@pytest.mark.parametrize("n", [2, 30, 200])
def test_samples_may_come_while_none_leaves(n):
    system, A, B = make_system(n)
    moving = MovingSystem(system, n + 10)
    assert move(moving, A, B, 10, leaves=False)
    assert moving.n == n + 10
    assert move(moving, A, B, 30)
    moving.settle()
    assert_solved(system, A, B, 30, n + 10)
    assert system.edits == 70


def test_room_is_made_for_a_few_samples_at_once():
    system, _, _ = make_system(30)
    assert len(MovingSystem(system, 40.0).ring) == 41
    system, _, _ = make_system(30)
    assert len(MovingSystem(system, np.inf).ring) == 192
    system, _, _ = make_system(300)
    assert len(MovingSystem(system, np.inf).ring) == 300 + 300 // 4


def test_a_full_buffer_grows_by_a_slot():
    system, A, B = make_system(20)
    capacity = system.factor.matrix.capacity
    for new in range(20, capacity):
        held = np.arange(new)
        system.append(A[np.ix_(held, [new])], A[np.ix_([new], [new])], B[[new]])
    moving = MovingSystem(system, system.n)
    assert move(moving, A, B, 5)
    moving.settle()
    assert_solved(system, A, B, 5, capacity)


def test_checks_come_in_time(monkeypatch):
    monkeypatch.setattr(moving_module, "CHECKED", 10)
    system, A, B = make_system(30)
    moving, found = MovingSystem(system, system.n), []
    monkeypatch.setattr(
        system, "moved", lambda *a: found.append(a[2]) or type(system).moved(system, *a)
    )
    assert move(moving, A, B, 35)
    assert found == [20, 20, 20]
    moving.settle()
    assert_solved(system, A, B, 35, 30)


@pytest.mark.parametrize("wrong", ["S", "P"])
def test_what_has_drifted_is_found_and_mended(wrong):
    system, A, B = make_system(30)
    moving = MovingSystem(system, system.n)
    move(moving, A, B, 4)
    getattr(moving, wrong)[moving.slots[20], moving.slots[20] if wrong == "P" else 1] += 1e-3
    assert move(moving, A, B, 10)  # one in eight is looked at as it leaves
    assert len(system.rebuilds) == (wrong == "P")
    moving.settle()
    assert_solved(system, A, B, 14, 30)


def test_steps_end_where_the_system_takes_another_factor(monkeypatch):
    system, A, B = make_system(30)
    moving = MovingSystem(system, system.n)
    move(moving, A, B, 4)
    moving.P[moving.slots[20], moving.slots[20]] += 1e-3
    solution = system.solution
    monkeypatch.setattr(
        system, "solution", lambda: system.rebuild("told", "cholesky") or solution()
    )
    assert not move(moving, A, B, 10)
    assert not moving.whole
    assert system.factor.name == "cholesky"


def test_a_refused_step_changes_nothing():
    system, A, B = make_system(30, ridge=1e-3)
    moving = MovingSystem(system, system.n)
    before = [array.copy() for array in (moving.P, moving.B, moving.S)]
    k = np.zeros(len(moving.held))
    k[moving.slots] = A[3, :30]  # a sample that is held, without its ridge
    k[moving.slots[3]] = A[3, 3]
    assert not moving.step(*moving.places(), k, k @ moving.S, B[3], A[3, 3])
    moving.P[moving.slots[0], moving.slots[0]] = -1e9
    before[0][moving.slots[0], moving.slots[0]] = -1e9
    k[moving.slots] = A[35, :30]
    assert not moving.step(*moving.places(), k, k @ moving.S, B[35], A[35, 35])
    for old, new in zip(before, (moving.P, moving.B, moving.S), strict=True):
        np.testing.assert_array_equal(new, old)
    assert moving.whole


@pytest.mark.parametrize(
    ("parameters", "moves"),
    [
        ({}, True),
        ({"factor": "cholesky"}, False),
        ({"ridge": 1e-5, "n": 300}, False),
        ({"n": 1}, False),
    ],
)
def test_which_systems_move(parameters, moves):
    system, *_ = make_system(**parameters)
    assert MovingSystem.moves(system) is moves


def test_samples_may_have_other_weights():
    A = gram(MANY) + np.diag(np.arange(MANY) % 7.0)
    system = LiveSystem(np.diagonal(A)[:30].copy(), row_block(A), np.ones((30, 1)))
    assert MovingSystem.moves(system)
    moving = MovingSystem(system, 30)
    assert move(moving, A, np.ones((MANY, 1)), 50)
    moving.settle()
    np.testing.assert_array_equal(system.factor.matrix_diagonal(), np.diagonal(A)[50:80])
    assert_solved(system, A, np.ones((MANY, 1)), 50, 30)


def test_a_sample_that_dominates_others_does_not_move():
    A = gram(20) + np.diag(np.append(np.ones(19), 1e4))
    system = LiveSystem(np.diagonal(A).copy(), row_block(A), np.ones((20, 1)))
    assert not MovingSystem.moves(system)
