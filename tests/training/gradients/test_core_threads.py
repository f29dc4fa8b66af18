"""Threads share the work, keep the order, and leave no trace."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.loop import train
from tests.training.small_runs import SMALL, ticking


def test_results_come_in_the_order_of_the_items():
    for items in [0, 1, 4, 5, 11]:
        for count in [1, 2, 5]:
            assert Cores(count).map(lambda item: item**2, range(items)) == [
                item**2 for item in range(items)
            ], (
                items,
                count,
            )


def test_every_core_works_and_torch_takes_one_thread_in_each():
    cores, together = Cores(3), threading.Barrier(3, timeout=60)

    def work(_):
        together.wait()  # passes only if three threads are here at once
        return threading.get_ident(), torch.get_num_threads()

    with cores.working():
        found = cores.map(work, range(3))
    assert len({thread for thread, _ in found}) == 3
    assert {number for _, number in found} == {1}


def test_an_error_in_a_helper_reaches_the_caller():
    def fail(item):
        if item == 1:
            raise ArithmeticError("in a helper")

    with pytest.raises(ArithmeticError, match="in a helper"):
        Cores(2).map(fail, range(2))


def in_a_new_thread(work):
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def test_torch_keeps_its_number_of_threads_here_and_in_new_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        cores = Cores(2)
        assert in_a_new_thread(torch.get_num_threads) == 3
        with cores.working():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
        with pytest.raises(ArithmeticError), Cores(2).working():
            raise ArithmeticError
        assert torch.get_num_threads() == 3
        assert in_a_new_thread(torch.get_num_threads) == 3
    finally:
        torch.set_num_threads(before)


def test_a_run_that_is_over_leaves_no_threads_behind():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        others = set(threading.enumerate())
        events = train(SMALL, ticking())
        next(events)
        helpers = set(threading.enumerate()) - others
        assert len(helpers) == 2
        events.close()
        del events
        for helper in helpers:
            helper.join(timeout=60)
            assert not helper.is_alive()
    finally:
        torch.set_num_threads(before)
