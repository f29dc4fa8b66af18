-- Forget the deleted runs that no stored run is charged for.
DELETE FROM deleted WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.sweep = deleted.sweep)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = deleted.parent)
