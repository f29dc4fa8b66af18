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
    error TEXT,
    owner TEXT NOT NULL DEFAULT '',  -- who asked for it; nobody in particular on a machine of one user
    cost REAL NOT NULL DEFAULT 0,  -- examples still to look at: an owner's short runs go before his long ones
    tags TEXT NOT NULL DEFAULT '[]',
    note TEXT NOT NULL DEFAULT '',
    sweep TEXT,  -- what the runs of one sweep have in common
    parent TEXT,  -- the run that it goes on with
    attempts INTEGER NOT NULL DEFAULT 0,  -- how often its worker was gone since it last saved a checkpoint
    handed INTEGER NOT NULL DEFAULT 0,  -- whether the process that asked does the work: nobody else goes on with it
    origin TEXT  -- where it was trained
);
CREATE INDEX runs_by_status ON runs (status, number);
CREATE INDEX runs_by_owner ON runs (owner, started);
CREATE INDEX runs_by_sweep ON runs (sweep) WHERE sweep IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE TABLE board (  -- what everybody is to see
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id),
    sequence INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, sequence)
) WITHOUT ROWID;
CREATE TABLE deleted (  -- what deleted runs had released, as long as a run is there that it counts for
    id TEXT PRIMARY KEY,
    sweep TEXT,
    parent TEXT,
    plan TEXT,
    done INTEGER,  -- steps; NULL of one that had said nothing
    begun INTEGER NOT NULL  -- whether it, or one that went on with it, may have drawn noise of its own
) WITHOUT ROWID;
