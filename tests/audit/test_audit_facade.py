"""The names that `dpcore.audit` gives, and what importing them costs."""

import subprocess
import sys

import pytest

from dpcore import audit


def test_every_name_is_there_and_no_other() -> None:
    assert sorted(audit.__all__) == sorted(audit.HOME_OF)
    assert all(getattr(audit, name) is not None for name in audit.__all__)
    with pytest.raises(AttributeError, match="audits"):
        _ = audit.audits


def test_requests_statistics_and_trainers_are_there_without_torch() -> None:
    names = [name for name in audit.__all__ if name != "audit"]
    asked = f"from dpcore.audit import {', '.join(names)}; import dpcore.runs.kinds"
    code = f"import sys; {asked}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
