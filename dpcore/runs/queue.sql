-- The queued runs in the order in which workers claim them; with :devices, a list in JSON, those that ask for one of them.
-- Each owner is asked for once: for each run it took seconds with 10,000 runs. SQLite finds a slow plan by itself.
WITH waiting AS MATERIALIZED (SELECT DISTINCT owner FROM runs WHERE status = '{queued}'),
began AS MATERIALIZED (
    SELECT owner, (SELECT MAX(started) FROM runs WHERE runs.owner = waiting.owner) AS last FROM waiting
),
busy AS MATERIALIZED (SELECT owner, COUNT(*) AS runs FROM runs WHERE status = '{running}' GROUP BY owner)
SELECT id FROM (
    SELECT id, number, COALESCE(json_extract(settings, '$.device'), 'cpu') AS device,
        MAX(created, COALESCE(last, 0)) AS since,
        COALESCE(busy.runs, 0) + ROW_NUMBER() OVER (PARTITION BY owner ORDER BY cost, number) AS share
    FROM runs INDEXED BY runs_by_status CROSS JOIN began USING (owner) LEFT JOIN busy USING (owner)
    WHERE status = '{queued}'
) WHERE :devices IS NULL OR device IN (SELECT value FROM json_each(:devices))
ORDER BY share, since, number
