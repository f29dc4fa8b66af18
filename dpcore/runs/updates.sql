-- The changes of a store's tables since the version before, for stores of earlier versions.

-- version 2
ALTER TABLE runs ADD COLUMN plan TEXT;

-- version 3
ALTER TABLE runs ADD COLUMN secret TEXT;

-- version 4
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'training';

-- version 5
ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
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
CREATE TABLE board (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- version 6
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE TABLE deleted (id TEXT PRIMARY KEY, sweep TEXT, parent TEXT, plan TEXT, done INTEGER, begun INTEGER NOT NULL)
    WITHOUT ROWID;
