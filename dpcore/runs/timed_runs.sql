-- Runs with the facts on which their times depend.
SELECT id, kind, started, ended, json_array({alike}) AS alike, json_extract(plan, '$.steps') AS steps,
    json_extract(settings, '$.batch') AS batch, json_extract(settings, '$.public') AS public,
    {body} AS body, {reports} AS reports
FROM runs WHERE {which}
