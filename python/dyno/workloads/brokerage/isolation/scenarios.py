"""The scenarios: the steps of each transaction, their order, and the required result.

T1 pauses before its end, and T2 starts meanwhile. T2 may wait for T1, or continue with the data
committed before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dyno.contracts.target import Connection
from dyno.workloads.actors import Stage, ended
from dyno.workloads.brokerage.isolation import transactions as tx
from dyno.workloads.scenarios import Scenario, Seen


def _results(*, commits: bool) -> Callable[[Stage], Seen]:
    """Two Trade-Results of one account; T1 pauses between reading and writing its shares."""

    def play(stage: Stage) -> Seen:
        seen = Seen()
        with stage.actors(2) as (one, two):
            first, second = (two.alone(tx.trade_order) for _ in range(2))
            before = two.now(tx.shares)
            one.open(writes=True)
            held = one.now(lambda session: tx.begin_result(session, first))
            other = two.whole(lambda session: tx.trade_result(session, second))
            seen.note("T2", waited=two.waits(other))
            one.now(lambda session: tx.end_result(session, first, held))
            one.end(commits=commits)
            seen.facts["T2 began again"] = len(ended(other).given_up)
            expected = before + tx.SHARES * (2 if commits else 1)
            seen.require("the account's shares", two.now(tx.shares), expected)
            seen.require("those of its holdings", two.now(tx.holdings), expected)
        return seen

    return play


def _unseen(stage: Stage) -> Seen:
    """Customer-Position during a Trade-Result of the same account that rolls back, then commits."""
    seen = Seen()
    with stage.actors(2) as (one, two):
        number = two.alone(tx.trade_order)
        before = two.now(tx.shares)
        after = before + tx.SHARES
        for commits in (False, True):
            one.open(writes=True)
            one.now(lambda session: tx.trade_result(session, number))
            asked = two.whole(tx.shares, writes=False)
            waited = two.waits(asked)
            one.end(commits=commits)
            found = ended(asked).result
            seen.note(
                "T2 beside the commit" if commits else "T2 beside the rollback", waited=waited
            )
            # If it waited for a commit, its answer may be from after it.
            allowed = after if commits and waited and found == after else before
            seen.require("shares that T2 saw", found, allowed)
        seen.require("the account's shares", two.now(tx.shares), after)
    return seen


def _broker(stage: Stage) -> Seen:
    """Trade-Results of two accounts of one broker."""
    seen = Seen()
    with stage.actors(2) as (one, two):
        account = two.now(tx.neighbour)
        first = two.alone(tx.trade_order)
        second = two.alone(lambda session: tx.trade_order(session, account))
        before = two.now(tx.broker_trades)
        one.open(writes=True)
        one.now(lambda session: tx.trade_result(session, first))
        other = two.whole(lambda session: tx.trade_result(session, second, account))
        seen.note("T2", waited=two.waits(other))
        one.commit()
        seen.facts["T2 began again"] = len(ended(other).given_up)
        seen.require("the broker's trades", two.now(tx.broker_trades), before + 2)
    return seen


def _feeds(stage: Stage) -> Seen:
    """Two Market-Feeds reach one limit order; T1 pauses between finding and submitting it."""
    seen = Seen()
    with stage.actors(2) as (one, two):
        number = two.alone(lambda session: tx.trade_order(session, limit=True))
        one.open(writes=True)
        found = one.now(tx.begin_feed)
        other = two.whole(tx.market_feed)
        seen.note("T2", waited=two.waits(other))
        one.now(lambda session: tx.end_feed(session, found))
        one.commit()
        outcome = ended(other)
        seen.facts["T2 began again"] = len(outcome.given_up)
        submitted = [*found, *outcome.result].count(number)
        seen.require("how often the order was submitted", submitted, 1)
    return seen


def _withdrawn(stage: Stage) -> Seen:
    """Market-Feed during a Trade-Order that rolls back."""
    seen = Seen()
    with stage.actors(2) as (one, two):
        one.open(writes=True)
        number = one.now(lambda session: tx.trade_order(session, limit=True))
        other = two.whole(tx.market_feed)
        seen.note("T2", waited=two.waits(other))
        one.rollback()
        submitted = ended(other).result.count(number)
        seen.require("how often the withdrawn order was submitted", submitted, 0)
    return seen


def _moment(stage: Stage) -> Seen:
    """Trade-Order reads cash and shares of an account; a Trade-Result ends in between."""
    seen = Seen()
    with stage.actors(2) as (one, two):
        number = two.alone(tx.trade_order)
        two.alone(lambda session: tx.trade_result(session, number))
        number = two.alone(tx.trade_order)
        before = two.now(tx.shares)
        one.open(writes=False)
        one.now(tx.cash)
        other = two.whole(lambda session: tx.trade_result(session, number))
        seen.note("the Trade-Result", waited=two.waits(other))
        found = one.now(tx.shares)
        one.commit()
        ended(other)
        seen.require("shares that belong to the cash", found, before)
        seen.require("the account's shares", two.now(tx.shares), before + tx.SHARES)
    return seen


def _again(
    read: Callable[[Connection], Any], change: Callable[[Connection], Any]
) -> Callable[[Stage], Seen]:
    """The result of ``read`` must not change within a transaction, whatever ``change`` commits."""

    def play(stage: Stage) -> Seen:
        seen = Seen()
        with stage.actors(2) as (one, two):
            two.alone(change)
            one.open(writes=False)
            first = one.now(read)
            other = two.whole(change)
            seen.note("T2", waited=two.waits(other))
            second = one.now(read)
            one.commit()
            ended(other)
            seen.require("the second reading", second, first)
            if two.now(read) == first:
                seen.faults.append("the change is not visible afterwards either")
        return seen

    return play


SCENARIOS = (
    Scenario(1, "Two Trade-Results of one account both count", _results(commits=True)),
    Scenario(2, "A Trade-Result that rolls back leaves only the other", _results(commits=False)),
    Scenario(3, "Customer-Position does not see a Trade-Result before its commit", _unseen),
    Scenario(4, "Two Trade-Results of one broker both count", _broker),
    Scenario(5, "Two Market-Feeds submit a limit order once", _feeds),
    Scenario(6, "Market-Feed does not submit an order that is withdrawn", _withdrawn),
    Scenario(7, "Trade-Order sees cash and shares of one moment", _moment),
    Scenario(8, "Trade-Update finds the same trades twice", _again(tx.last_trade, tx.trade_order)),
    Scenario(
        9,
        "Market-Watch reads the same price twice",
        _again(tx.price, lambda session: tx.market_feed(session, change=1)),
    ),
)
