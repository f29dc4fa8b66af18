-- Note the plans of the runs that are deleted next, for the sweeps and runs that are charged for their releases.
INSERT INTO deleted SELECT id, sweep, parent, plan,
    {charged_steps},
    started IS NOT NULL OR EXISTS (SELECT 1 FROM runs AS rest WHERE rest.parent = runs.id)
        OR EXISTS (SELECT 1 FROM deleted AS rest WHERE rest.parent = runs.id AND rest.begun)
FROM runs WHERE (sweep IS NOT NULL OR parent IS NOT NULL) AND {which}
