"""The store's tables, and its two long queries: what a run is, and what becomes of one whose worker is gone."""

VERSION = 6  # PRAGMA user_version

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
"""

SINCE = {  # version -> what makes a store of the version before into one of it
    2: "ALTER TABLE runs ADD COLUMN plan TEXT;",
    3: "ALTER TABLE runs ADD COLUMN secret TEXT;",
    4: "ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'training';",
    5: """ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN cost REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN sweep TEXT;
ALTER TABLE runs ADD COLUMN parent TEXT;
ALTER TABLE runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN handed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN origin TEXT;
CREATE INDEX runs_by_owner ON runs (owner, started);
CREATE INDEX runs_by_sweep ON runs (sweep) WHERE sweep IS NOT NULL;
CREATE TABLE board (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID""",
    6: """CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE TABLE deleted (id TEXT PRIMARY KEY, sweep TEXT, parent TEXT, plan TEXT, done INTEGER, begun INTEGER NOT NULL)
    WITHOUT ROWID""",
}

RUNS = """
SELECT runs.*, events.sequence AS sequence, events.body AS body
FROM runs LEFT JOIN events ON events.run = runs.id
    AND events.sequence = (SELECT MAX(sequence) FROM events WHERE run = runs.id)
"""

# the event of the last checkpoint, behind which a run goes on
SAVED = """(SELECT body FROM events WHERE run = runs.id AND body LIKE '{"event": "checkpointed"%'
    ORDER BY sequence DESC LIMIT 1)"""

RECOVER = f"""
UPDATE runs SET
    status = CASE WHEN cancelling THEN 'cancelled' WHEN handed OR attempts >= :most THEN 'lost' ELSE 'queued' END,
    error = CASE WHEN cancelling THEN NULL WHEN handed THEN :reason WHEN attempts >= :most THEN :vain END,
    ended = CASE WHEN cancelling OR handed OR attempts >= :most THEN :now END,
    worker = CASE WHEN cancelling OR handed OR attempts >= :most THEN worker END,
    attempts = attempts + NOT (cancelling OR handed OR attempts >= :most),
    cost = COALESCE(MAX(json_extract(plan, '$.steps') - COALESCE(json_extract({SAVED}, '$.step'), 0), 0)
        * (json_extract(settings, '$.batch') + COALESCE(json_extract(settings, '$.public'), 0)), cost)
WHERE id = :id AND worker IS :worker AND heartbeat IS :beat AND status = 'running' RETURNING status
"""
