-- Queue a running run again whose worker is gone, or end it; it continues from its last checkpoint. Its cost is what is
-- left, as `cost_of` counts it.
UPDATE runs SET
    status = CASE WHEN cancelling THEN 'cancelled' WHEN handed OR attempts >= :most THEN 'lost' ELSE 'queued' END,
    error = CASE WHEN cancelling THEN NULL WHEN handed THEN :reason WHEN attempts >= :most THEN :vain END,
    ended = CASE WHEN cancelling OR handed OR attempts >= :most THEN :now END,
    worker = CASE WHEN cancelling OR handed OR attempts >= :most THEN worker END,
    attempts = attempts + NOT (cancelling OR handed OR attempts >= :most),
    cost = COALESCE(
        MAX(json_extract(plan, '$.steps') - COALESCE(json_extract({saved}, '$.step'), 0), 0) * {per_step}, cost
    )
WHERE id = :id AND worker IS :worker AND heartbeat IS :beat AND status = 'running' RETURNING status
