"""What the transaction driver costs on the client's side.

Target: ≤ 120 ms of client CPU per 1,000 TPC-C-derived transactions on PostgreSQL. `pgbench`, from
the same server, is the yardstick for the machine: its built-in five-statement transaction over the
same socket, CPU per transaction.
"""

from __future__ import annotations

from pathlib import Path

from common import dyno, estimate, process, scratch

from dyno import host, targets
from dyno.targets.postgresql.binaries import find

SECONDS = 15


def main() -> None:
    with scratch() as folder:
        out = Path(folder)
        target = ("--target", "embedded:postgresql")
        dyno("load", "tpcc", *target, "--scale", "5", "--out", out)
        print("Dyno, TPC-C-derived, 5 warehouses (client CPU of the driver's threads)")
        for users in ("1", "4", "16"):
            document = dyno(
                "run", "tpcc", *target, "--users", users, "--duration", f"{SECONDS}s", "--out", out
            )
            (level,) = document["tpcc"]["levels"]
            cpu_ms = estimate(document, ".client_cpu_ms_per_1000")
            print(
                f"  {users:>2} users {level['tps']:8.0f} tps   {level['new_orders_per_min']:8.0f} "
                f"new orders/min   {cpu_ms:6.1f} ms per 1,000 (target 120)"
            )
        url = targets.parse("embedded:postgresql")
        with targets.open_target(url, out, host.limits(host.collect(out))) as server:
            wire = server.wire()
            where = ("-h", wire["host"], "-U", wire["user"], wire["database"])
            pgbench = find().folder / "pgbench"
            process(pgbench, "-i", "-q", "-s", "10", *where)
            print("\npgbench, its own five-statement transaction, prepared")
            for users in ("1", "4", "16"):
                report = out / "pgbench.txt"
                with report.open("w") as file:
                    cost = process(
                        pgbench, "-n", "-M", "prepared", "-c", users, "-T", str(SECONDS), *where,
                        stdout=file,
                    )  # fmt: skip
                lines = report.read_text().splitlines()
                done = next(line for line in lines if "actually processed" in line)
                count = int(done.split(":")[1].split("/")[0])
                print(
                    f"  {users:>2} users {count / SECONDS:8.0f} tps   "
                    f"{cost.cpu_s / count * 1e6:6.1f} ms per 1,000"
                )


main()
