-- Note the plans of the runs that are deleted next, for the sweeps and runs that are charged for their releases.
INSERT INTO deleted SELECT id, sweep, parent, plan,
    (SELECT COALESCE(json_extract(body, '$.step'), 0) FROM events WHERE run = runs.id ORDER BY sequence DESC LIMIT 1),
    started IS NOT NULL OR EXISTS (SELECT 1 FROM runs AS rest WHERE rest.parent = runs.id)
        OR EXISTS (SELECT 1 FROM deleted AS rest WHERE rest.parent = runs.id AND rest.begun)
FROM runs WHERE (sweep IS NOT NULL OR parent IS NOT NULL) AND {which}
