-- Runs, each with its newest event.
SELECT runs.*, events.sequence AS sequence, events.body AS body
FROM runs LEFT JOIN events ON events.run = runs.id
    AND events.sequence = (SELECT MAX(sequence) FROM events WHERE run = runs.id)
