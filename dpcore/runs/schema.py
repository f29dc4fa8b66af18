"""The store's tables, and the one query that reads runs."""

VERSION = 4  # PRAGMA user_version

TABLES = """
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of submission
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL DEFAULT 'training',  -- what is to be done
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    plan TEXT,  -- what follows from a training run's settings; NULL in runs of older versions
    secret TEXT,  -- the seed, unless the settings fix one; never shown
    status TEXT NOT NULL DEFAULT 'queued',
    created REAL NOT NULL,
    started REAL,
    ended REAL,
    heartbeat REAL,
    worker TEXT,
    cancelling INTEGER NOT NULL DEFAULT 0,
    error TEXT
);
CREATE INDEX runs_by_status ON runs (status, number);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id),
    sequence INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, sequence)
) WITHOUT ROWID;
"""

SINCE = {  # version -> what makes a store of the version before into one of it
    2: "ALTER TABLE runs ADD COLUMN plan TEXT;",
    3: "ALTER TABLE runs ADD COLUMN secret TEXT;",
    4: "ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'training';",
}

RUNS = """
SELECT runs.*, events.sequence AS sequence, events.body AS body, CASE status WHEN 'queued' THEN
    (SELECT COUNT(*) FROM runs AS other WHERE other.status = 'queued' AND other.number <= runs.number) END AS position
FROM runs LEFT JOIN events ON events.run = runs.id
    AND events.sequence = (SELECT MAX(sequence) FROM events WHERE run = runs.id)
"""
