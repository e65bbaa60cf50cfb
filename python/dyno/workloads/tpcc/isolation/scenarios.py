"""The scenarios: the steps of each transaction, their order, and the required result.

Source: the TPC-C specification, 3.4.2.1–9. T1 pauses before its end, and T2 starts meanwhile. Both
cases of the specification pass: T2 waits for T1, or continues with the data committed before. Two
scenarios are simplified, to avoid changing a whole district: 8 checks the number of waiting orders
instead of a district without any, and 7 checks one item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dyno.contracts.target import Connection
from dyno.workloads.actors import Stage, ended
from dyno.workloads.scenarios import Scenario, Seen
from dyno.workloads.tpcc.isolation import transactions as tx

PLACE = tx.CustomerKey()
ITEM = 1


def _status(*, commits: bool) -> Callable[[Stage], Seen]:
    """Order-Status during a New-Order of the same customer."""

    def play(stage: Stage) -> Seen:
        seen = Seen()
        with stage.actors(2) as (one, two):
            before = two.now(lambda session: tx.last_order(session, PLACE))
            one.open(writes=True)
            number = one.now(lambda session: tx.new_order(session, PLACE))
            asked = two.whole(lambda session: tx.last_order(session, PLACE), writes=False)
            waited = two.waits(asked)
            one.end(commits=commits)
            found = ended(asked).result
            after = two.now(lambda session: tx.last_order(session, PLACE))
            seen.facts["T2"] = "waited" if waited else "went on"
            # If it waited, its answer may be from after the commit.
            allowed = number if waited and commits and found == number else before
            seen.require("the order that T2 saw", found, allowed)
            seen.require("the last order afterwards", after, number if commits else before)
        return seen

    return play


def _orders(*, commits: bool) -> Callable[[Stage], Seen]:
    """Two concurrent New-Orders in one district."""

    def play(stage: Stage) -> Seen:
        seen = Seen()
        with stage.actors(2) as (one, two):
            first = two.now(lambda session: tx.next_number(session, PLACE))
            one.open(writes=True)
            number = one.now(lambda session: tx.new_order(session, PLACE))
            other = two.whole(lambda session: tx.new_order(session, PLACE))
            seen.note("T2", waited=two.waits(other))
            one.end(commits=commits)
            outcome = ended(other)
            seen.facts["T2 began again"] = len(outcome.given_up)
            expected = first + 1 if commits else first
            seen.require("T1's order number", number, first)
            seen.require("T2's order number", outcome.result, expected)
            seen.require(
                "the next order number",
                two.now(lambda session: tx.next_number(session, PLACE)),
                expected + 1,
            )
        return seen

    return play


def _money(*, commits: bool) -> Callable[[Stage], Seen]:
    """Payment during a Delivery to the same customer."""

    def play(stage: Stage) -> Seen:
        seen = Seen()
        with stage.actors(2) as (one, two):
            place, number = two.now(lambda session: tx.oldest(session, PLACE))
            cost = two.now(lambda session: tx.order_amount(session, place, number))
            paid = two.now(lambda session: tx.price(session, ITEM))
            before = two.now(lambda session: tx.balance(session, place))
            one.open(writes=True)
            one.now(lambda session: tx.delivery(session, place, number))
            other = two.whole(lambda session: tx.payment(session, place, str(paid)))
            seen.note("T2", waited=two.waits(other))
            one.end(commits=commits)
            seen.facts["T2 began again"] = len(ended(other).given_up)
            expected = before - paid + (cost if commits else 0)
            after = two.now(lambda session: tx.balance(session, place))
            seen.require("the customer's balance", after, expected)
        return seen

    return play


def _prices(stage: Stage) -> Seen:
    """A New-Order reads a price twice; another transaction changes it in between."""
    seen = Seen()
    with stage.actors(2) as (one, two):
        old = two.now(lambda session: tx.price(session, ITEM))
        two.alone(lambda session: tx.set_price(session, ITEM, old))
        try:
            one.open(writes=False)
            first = one.now(lambda session: tx.price(session, ITEM))
            change = two.whole(lambda session: tx.set_price(session, ITEM, old + 1))
            seen.note("the price change", waited=two.waits(change))
            second = one.now(lambda session: tx.price(session, ITEM))
            one.commit()
            ended(change)
            seen.require("the price at the second reading", second, first)
            after = two.now(lambda session: tx.price(session, ITEM))
            seen.require("the price afterwards", after, old + 1)
        finally:
            ended(two.whole(lambda session: tx.set_price(session, ITEM, old)))
    return seen


def _phantom(read: Callable[[Connection, tx.CustomerKey], Any]) -> Callable[[Stage], Seen]:
    """The result of ``read`` must not change within a transaction, even if an order is added."""

    def play(stage: Stage) -> Seen:
        seen = Seen()
        with stage.actors(2) as (one, two):
            two.alone(lambda session: tx.new_order(session, PLACE))
            one.open(writes=False)
            first = one.now(lambda session: read(session, PLACE))
            order = two.whole(lambda session: tx.new_order(session, PLACE))
            seen.note("the New-Order", waited=two.waits(order))
            second = one.now(lambda session: read(session, PLACE))
            one.commit()
            ended(order)
            seen.require("the second reading", second, first)
            later = two.now(lambda session: read(session, PLACE))
            if later == first:
                seen.faults.append("the new order is not visible afterwards either")
        return seen

    return play


SCENARIOS = (
    Scenario(1, "Order-Status does not see a New-Order before its commit", _status(commits=True)),
    Scenario(2, "Order-Status never sees a New-Order that rolls back", _status(commits=False)),
    Scenario(3, "Two New-Orders of one district get consecutive numbers", _orders(commits=True)),
    Scenario(
        4, "A New-Order that rolls back leaves its number to the next", _orders(commits=False)
    ),
    Scenario(5, "Payment and Delivery both change a customer's balance", _money(commits=True)),
    Scenario(6, "A Delivery that rolls back leaves only the Payment", _money(commits=False)),
    Scenario(7, "A New-Order reads the same price twice", _prices),
    Scenario(8, "Delivery finds the same waiting orders twice", _phantom(tx.waiting_orders)),
    Scenario(9, "Order-Status finds the same last order twice", _phantom(tx.last_order)),
)
