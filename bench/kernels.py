#!/usr/bin/env python3
"""Measures Jupyter kernels side by side, from one blocking jupyter_client client.

    kernels.py [--rounds 3] [--only cells,interrupt,sizes] [--columns vm,GoNB] [--write bench/README.md]

The columns are this kernel on each of its engines, and those of ipykernel, GoNB
and gophernotes whose kernelspecs Jupyter finds. Each round visits every kernel
once, so that a busy machine hits all of them alike. The tables give medians,
and behind them the median of the rounds' ratios to the first column: x2 took
twice as long as it. Needs jupyter_client and psutil.

  start        start_kernel() called -> first kernel_info_reply. The client's sockets try
               a refused connection again every 10 ms: the default of 100 would round every
               quick kernel up to the next tenth of a second.
  cells        execute_request -> idle. The sizes of cells are each measured in a kernel
               that has run one cell before; GoNB compiles what it does not have in Go's
               build cache, as for anybody who writes new cells.
  completion   complete_request -> reply: the first one, then the median of ten
  memory       resident memory of all processes of the kernel: 3 s after the first reply,
               and after the timed cells
  interrupt    interrupt_kernel() -> idle, and whether a variable of before is kept
"""
import argparse
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import time
from queue import Empty

import psutil
import zmq
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

LINES, ADDITIONS, CELLS, COMPLETES, SETTLE = 100_000, 10_000_000, 10, 10, 3.0
SLOW = 20.0  # seconds: a cell that is likely to take longer is left out

# column: kernelspec, language, environment
COLUMNS = {
    "vm": ("branchbook", "go", {"BRANCHBOOK_ENGINE": "vm"}),
    "yaegi": ("branchbook", "go", {"BRANCHBOOK_ENGINE": "yaegi"}),
    "ipykernel": ("python3", "python", {}),
    "GoNB": ("gonb", "main", {}),
    "gophernotes": ("gophernotes", "go", {}),
}


def declarations(language, lines):
    """Functions of five lines each, and a call of the last one."""
    n = lines // 5
    if language == "python":
        one = "def made{0}(x):\n    s = 0\n    for i in range(x):\n        s += i * {0}\n    return s\n"
        return "".join(one.format(i) for i in range(n)) + f"print(made{n - 1}(3))"
    one = "func made{0}(x int) (s int) {{\n\tfor i := 0; i < x; i++ {{\n\t\ts += i * {0}\n\t}}\n\treturn s }}\n"
    return "".join(one.format(i) for i in range(n)) + statements(language, f"fmt.Println(made{n - 1}(3))")


def statements(language, text):
    """Statements at the top of a cell: GoNB wants them behind %%."""
    return "%%\n" + text if language == "main" else text


def loop(language, steps):
    if language == "python":
        return f"s = 0\nfor i in range({steps}):\n    s += i ^ 3\nprint(s)"
    return statements(language, f"s := 0\nfor i := 0; i < {steps}; i++ {{\n\ts += i ^ 3\n}}\nfmt.Println(s)")


def fib(language, n):
    if language == "python":
        return f"def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib({n}))"
    return "func fib(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn fib(n-1) + fib(n-2)\n}\n" + statements(language, f"fmt.Println(fib({n}))")


def cells(language):
    """The cells of a language, by name."""
    if language == "python":
        return {
            "setup": "import os", "expr": "1+1", "declare": "kept_value = 1", "assign": "kept_value = 42", "show": "print(kept_value)",
            "lines": f"for i in range({LINES}): print('line', i)",
            "add": f"s = 0\nfor i in range({ADDITIONS}):\n    s += i\nprint(s)",
            "complete": ("os.path.joi", "join"), "busy": "while True: pass",
            "import": "import http.server\nprint(http.server.HTTPStatus(200).phrase)",
        }
    go = lambda text: statements(language, text)
    return {
        "setup": "" if language == "main" else 'import "fmt"', "expr": go("fmt.Println(1 + 1)") if language == "main" else "1 + 1",
        "declare": "var keptValue = 1", "assign": go("keptValue = 42"), "show": go("fmt.Println(keptValue)"),
        "lines": go(f'for i := 0; i < {LINES}; i++ {{\n\tfmt.Println("line", i)\n}}'),
        "add": go(f"s := 0\nfor i := 0; i < {ADDITIONS}; i++ {{\n\ts += i\n}}\nfmt.Println(s)"),
        "complete": (go("fmt.Printl"), "Println"), "busy": go("for {\n}"),
        "import": 'import "net/http"\n' + go("fmt.Println(http.StatusText(200))"),
    }


class Kernel:
    """A running kernel, its client, and the processes below it."""

    def __init__(self, spec, env):
        self.km = KernelManager(kernel_name=spec)
        begin = time.monotonic()
        self.km.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **env})
        self.kc = self.km.blocking_client()
        self.kc.context.setsockopt(zmq.RECONNECT_IVL, 10)
        self.kc.start_channels()
        request = self.kc.kernel_info()
        while self.kc.get_shell_msg(timeout=120)["parent_header"].get("msg_id") != request:
            pass
        self.start = time.monotonic() - begin
        self.root = psutil.Process(self.km.provisioner.pid)
        self.kc.wait_for_ready(timeout=120)  # also waits for IOPub

    def processes(self):
        try:
            return [self.root, *self.root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def memory(self):
        total = 0
        for process in self.processes():
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                pass
        return total / 2**20

    def run(self, code, timeout=120.0, after=None):
        """Executes code and reads until idle. Returns the seconds, or None if it did not end, and
        what it printed. after=(seconds, call): makes that call so long after the request, and
        counts from it."""
        request = self.kc.execute(code, allow_stdin=False)
        begin, replied, idle, text = time.monotonic(), False, None, []
        poller = zmq.Poller()
        channels = {c.socket: c for c in (self.kc.shell_channel, self.kc.iopub_channel)}
        for socket in channels:
            poller.register(socket, zmq.POLLIN)
        while not (replied and idle is not None):
            now = time.monotonic()
            if after and now - begin >= after[0]:
                begin, call, after = now, after[1], None
                call()
            if now - begin > timeout or not self.km.is_alive():
                return None, "".join(text)
            for socket, _ in poller.poll(10 if after else 500):
                message = channels[socket].get_msg(timeout=0)
                if message["parent_header"].get("msg_id") != request:
                    continue
                content = message["content"]
                if socket is self.kc.shell_channel.socket:
                    replied = True
                elif message["msg_type"] == "stream" and content["name"] == "stdout":
                    text.append(content["text"])
                elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                    idle = time.monotonic() - begin
        return idle, "".join(text)

    def complete(self, code, expect):
        begin = time.monotonic()
        request = self.kc.complete(code, len(code))
        while True:
            try:
                message = self.kc.get_shell_msg(timeout=60)
            except Empty:
                return None
            if message["parent_header"].get("msg_id") == request:
                break
        found = any(expect in match for match in message["content"].get("matches") or [])
        return time.monotonic() - begin if found else None

    def stop(self):
        below = self.processes()
        self.kc.stop_channels()
        try:
            self.km.shutdown_kernel()
        except RuntimeError:
            pass
        for process in psutil.wait_procs(below, timeout=2)[1]:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                pass


def timed(kernel, code, want):
    """Seconds of a cell that must print want."""
    seconds, text = kernel.run(code)
    return seconds if text.strip() == want else None


def measure_cells(open_kernel, language):
    code, kernel = cells(language), open_kernel()
    row = {"start": kernel.start}
    try:
        time.sleep(SETTLE)
        row["memory after start"] = kernel.memory()
        if code["setup"]:
            kernel.run(code["setup"])
        row["first cell"] = kernel.run(code["expr"])[0]
        row["one-line cell"] = statistics.median(kernel.run(code["expr"])[0] for _ in range(CELLS))
        seconds, text = kernel.run(code["lines"])
        row["100,000 printed lines"] = seconds if text.splitlines() == [f"line {i}" for i in range(LINES)] else None
        row["10 million additions"] = timed(kernel, code["add"], str(ADDITIONS * (ADDITIONS - 1) // 2))
        tries = [kernel.complete(*code["complete"]) for _ in range(1 + COMPLETES)]
        row["completion, first"] = tries[0]
        row["completion, then"] = None if None in tries else statistics.median(tries[1:])
        row["memory after cells"] = kernel.memory()
    finally:
        kernel.stop()
    return row


def measure_interrupt(open_kernel, language):
    code, kernel = cells(language), open_kernel()
    row = {}
    try:
        for key in ("setup", "declare", "assign"):
            if code[key]:
                kernel.run(code[key])
        wait = 2 + 2 * kernel.run(code["expr"])[0]  # a kernel that compiles runs the loop by then
        row["interrupt"] = kernel.run(code["busy"], timeout=30, after=(wait, kernel.km.interrupt_kernel))[0]
        value = kernel.run(code["show"], timeout=30)[1].strip() if kernel.km.is_alive() else "died"
        row["variables then"] = {"42": "kept", "1": "reset", "died": "kernel died"}.get(value, "lost")
    finally:
        kernel.stop()
    return row


def measure_sizes(open_kernel, language):
    code, kernel = cells(language), open_kernel()
    row = {}
    try:
        if code["setup"]:
            kernel.run(code["setup"])
        kernel.run(code["expr"])
        for lines in (10, 100, 1000):
            want = str(3 * (lines // 5 - 1))
            row[f"{lines} lines of functions"] = timed(kernel, declarations(language, lines), want)
        last = 0.0
        for power in (6, 8, 9):
            n = 10**power
            if last is None or last * n / 10 ** (6 if power == 8 else 8) > SLOW and last > 1:
                row[f"loop of 10^{power}"], last = None, None
                continue
            seconds, text = kernel.run(loop(language, n))
            row[f"loop of 10^{power}"] = last = seconds if text.strip() == str(looped(n)) else None
        row["fib(30)"] = timed(kernel, fib(language, 30), "832040")
        row["import net/http"] = timed(kernel, code["import"], "OK")
    finally:
        kernel.stop()
    return row


def looped(n):
    """The sum of i ^ 3 for i < n, a multiple of 4: it reorders each four numbers."""
    return n * (n - 1) // 2


PARTS = {"cells": measure_cells, "interrupt": measure_interrupt, "sizes": measure_sizes}
UNITS = {"memory after start": (1, "MiB"), "memory after cells": (1, "MiB")}


def show(value, unit):
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def table(runs, names, titles):
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for title in titles:
        row, base = [], {r: v[title] for (n, r), v in runs.items() if n == names[0] and v.get(title) is not None}
        for name in names:
            values = {r: v[title] for (n, r), v in runs.items() if n == name and v.get(title) is not None}
            if not values:
                row.append("–")
            elif isinstance(next(iter(values.values())), str):
                row.append("; ".join(sorted(set(values.values()))))
            else:
                median = statistics.median(values.values())
                factor, unit = UNITS.get(title, (1e3, "ms") if median < 1 else (1, "s"))
                text = show(median * factor, unit)
                ratios = [values[r] / base[r] for r in values if base.get(r)]
                if name != names[0] and ratios:
                    text += f" x{statistics.median(ratios):.2g}"
                row.append(text)
        lines.append(f"| {title} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def machine():
    model = platform.processor()
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB, {platform.system()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--columns", default=",".join(COLUMNS))
    parser.add_argument("--write", help="a file whose lines behind the first that begins with '<!-- measured' become the tables")
    options = parser.parse_args()
    # A shell's background job ignores SIGINT, and would hand that down to the kernels.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = KernelSpecManager().find_kernel_specs()
    names = [n for n in options.columns.split(",") if COLUMNS[n][0] in found]
    for name in options.columns.split(","):
        if name not in names:
            print(f"{name}: no kernelspec {COLUMNS[name][0]}: left out", file=sys.stderr)
    if not names:
        sys.exit("no kernel to measure: make kernel installs this one")
    runs, titles, load = {}, {}, []
    for number in range(options.rounds):
        for name in names:
            spec, language, env = COLUMNS[name]
            load.append(os.getloadavg()[0])
            for part in options.only.split(","):
                print(f"round {number + 1} of {options.rounds}: {name}, {part}", file=sys.stderr, flush=True)
                try:
                    row = PARTS[part](lambda: Kernel(spec, env), language)
                except Exception as error:  # one kernel's failure must not end the comparison
                    print(f"{name}, {part}: {type(error).__name__}: {error}", file=sys.stderr)
                    row = {}
                runs.setdefault((name, number), {}).update(row)
                for title in row:
                    titles[title] = None
    text = f"{machine()}; load {min(load):.1f} to {max(load):.1f}; medians of {options.rounds} rounds.\n\n{table(runs, names, titles)}\n"
    print(text)
    if options.write:
        path = pathlib.Path(options.write)
        head, mark, _ = path.read_text().partition("<!-- measured")
        if not mark:
            sys.exit(f"{path}: no line that begins with '<!-- measured'")
        path.write_text(f"{head}<!-- measured by bench/kernels.py: make bench renews what follows -->\n\n{text}")


if __name__ == "__main__":
    main()
