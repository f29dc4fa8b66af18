-- The runs that continue or continued a run, active ones first, and deleted ones that had begun.
SELECT id, status FROM (
    SELECT id, status, number FROM runs WHERE parent = :run
    UNION ALL SELECT id, 'deleted', 0 FROM deleted WHERE parent = :run AND begun
) ORDER BY {active} DESC, status = '{finished}' DESC, number DESC
