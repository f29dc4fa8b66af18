CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of submission
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL DEFAULT 'training',  -- of job
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    plan TEXT,  -- of a training run; NULL in runs of older versions
    secret TEXT,  -- seed, unless the settings fix one; never shown
    status TEXT NOT NULL DEFAULT 'queued',
    created REAL NOT NULL,
    started REAL,
    ended REAL,
    heartbeat REAL,
    worker TEXT,
    cancelling INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    owner TEXT NOT NULL DEFAULT '',  -- empty on a machine with one user
    cost REAL NOT NULL DEFAULT 0,  -- examples left to look at: short runs of an owner go first
    tags TEXT NOT NULL DEFAULT '[]',
    note TEXT NOT NULL DEFAULT '',
    sweep TEXT,  -- id that the runs of a sweep share
    parent TEXT,  -- the run that it continues
    attempts INTEGER NOT NULL DEFAULT 0,  -- lost workers since its last checkpoint
    handed INTEGER NOT NULL DEFAULT 0,  -- whether the submitting process does the work: no worker continues it
    origin TEXT  -- where it was trained
);
CREATE INDEX runs_by_status ON runs (status, number);
CREATE INDEX runs_by_owner ON runs (owner, started);
CREATE INDEX runs_by_sweep ON runs (sweep) WHERE sweep IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE TABLE board (  -- for everybody to see
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id),
    sequence INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, sequence)
) WITHOUT ROWID;
CREATE TABLE deleted (  -- releases of deleted runs, while they count for other runs
    id TEXT PRIMARY KEY,
    sweep TEXT,
    parent TEXT,
    plan TEXT,
    done INTEGER,  -- steps; NULL without events
    begun INTEGER NOT NULL  -- whether it, or a run that continued it, may have drawn its own noise
) WITHOUT ROWID;
