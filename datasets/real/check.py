#!/usr/bin/env python3
"""Computes the rows that the windows in cases.tsv must give, with nothing but Python's own modules.

    python3 datasets/real/check.py

writes expected/*.csv: the columns of `transom window -o csv`, without header and quotes, sorted.
"""

import csv
import gzip
import json
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from pathlib import Path

HERE = Path(__file__).parent
EPOCH = datetime(1970, 1, 1)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def table(name):
    opener = gzip.open if name.endswith(".gz") else open
    with opener(HERE / name, "rt", newline="") as file:
        yield from csv.DictReader(file)


def floor(time, size):
    return EPOCH + (time - EPOCH) // size * size


def tumble(size):
    return lambda time: [(floor(time, size), floor(time, size) + size)]


def hop(size, slide):
    def windows(time):
        start = floor(time, slide)
        while start > time - size:
            yield start, start + size
            start -= slide

    return windows


def cumulate(size, step):
    def windows(time):
        start = floor(time, size)
        end = floor(time, step) + step
        while end <= start + size:
            yield start, end
            end += step

    return windows


def grouped(rows, windows):
    """rows: (key, time, value)"""
    groups = defaultdict(list)
    for key, time, value in rows:
        for window in windows(time):
            groups[key, window].append(value)
    return groups


def sessions(rows, gap):
    groups = {}
    for key, time, value in sorted(rows, key=lambda row: row[1]):
        last = groups.get(key)
        if last and time - last[-1][0] <= gap:
            last[-1] = (time, last[-1][1] + [value], last[-1][2])
        else:
            groups.setdefault(key, []).append((time, [value], time))
    found = {}
    for key, list_of_sessions in groups.items():
        for end, values, start in list_of_sessions:
            found[key, (start, end + gap)] = values
    return found


def shown(value):
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + (f".{value.microsecond // 1000:03}".rstrip("0") if value.microsecond else "")
    return str(value)


def write(name, groups, *aggregates):
    lines = []
    for (key, (start, end)), values in groups.items():
        present = [value for value in values if value is not None]
        cells = list(key) + [start, end] + [aggregate(values, present) for aggregate in aggregates]
        lines.append(",".join(shown(cell) for cell in cells))
    (HERE / "expected" / name).write_text("".join(f"{line}\n" for line in sorted(lines)))


def rows_of(values, _):
    return len(values)


def count(_, present):
    return len(present)


def largest(_, present):
    return max(present, default=None)


def smallest(_, present):
    return min(present, default=None)


def total(_, present):
    return sum(present) if present else None


def number(text, kind=float):
    return kind(text) if text else None


def utc(text):
    return datetime.fromisoformat(text).astimezone(timezone.utc).replace(tzinfo=None)


def main():
    (HERE / "expected").mkdir(exist_ok=True)
    rows = [((r["weather"],), datetime.fromisoformat(r["date"]), float(r["temp_max"])) for r in table("seattle-weather.csv")]
    write("seattle-weather.csv", grouped(rows, tumble(28 * DAY)), rows_of, largest)

    rows = [((), datetime.strptime(r["time"], "%Y/%m/%d %H:%M:%S"), int(r["count"])) for r in table("github.csv")]
    write("github.csv", grouped(rows, hop(14 * DAY, 7 * DAY)), total)

    rows = [((), datetime.fromisoformat(r["DATE"]), number(r["TMAX"], int)) for r in table("lincoln_weather.csv")]
    write("lincoln_weather.csv", grouped(rows, tumble(28 * DAY)), rows_of, count, largest)

    rows = [
        ((), utc(r["time (UTC)"].replace("Z", "+00:00")), float(r["temperature (celsius)"]))
        for r in table("sea_surface_temperature.csv.gz")
    ]
    write("sea_surface_temperature.csv", grouped(rows, cumulate(2 * DAY, DAY)), rows_of, smallest)

    rows = [((), datetime.fromisoformat(r["date_hour"]), float(r["pageviews"])) for r in table("pageviews.csv")]
    write("pageviews.csv", grouped(rows, tumble(DAY)), rows_of, largest)

    rows = [((), datetime.strptime(r["date"], "%Y%m%d"), number(r["co2"])) for r in table("co2.csv")]
    write("co2.csv", grouped(rows, tumble(365 * DAY)), rows_of, count, largest)

    rows = [((), datetime.strptime(r["DATE"], "%b-%d-%Y"), None) for r in table("elec_equip.csv")]
    write("elec_equip.csv", grouped(rows, tumble(91 * DAY)), rows_of)

    rows = [((), utc(r["Time"]), float(r["Water flow [l/s]"])) for r in table("water-flow.csv")]
    write("water-flow.csv", grouped(rows, tumble(DAY)), rows_of, largest)

    rows = [((), datetime.fromisoformat(r["time"]), number(r["Pace"])) for r in table("run_log.csv")]
    write("run_log.csv", sessions(rows, timedelta(seconds=6)), rows_of, largest)

    with open(HERE / "earthquakes.jsonl") as file:
        quakes = [json.loads(line)["properties"] for line in file]
    rows = [((q["net"],), EPOCH + timedelta(milliseconds=q["time"]), q["mag"]) for q in quakes]
    write("earthquakes.csv", grouped(rows, tumble(HOUR)), rows_of)


if __name__ == "__main__":
    main()
