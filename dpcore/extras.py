"""Extras of the package: what accounting and claims can do without, and how to install it."""

from importlib.util import find_spec

EXTRAS = {  # extra -> the modules that it brings, of requirements-EXTRA.txt
    "app": ("streamlit", "plotly", "PIL", "rich", "threadpoolctl", "starlette", "itsdangerous"),
    "train": ("torch", "torchvision", "cryptography", "sklearn", "PIL", "rich"),
    "notebook": ("ipywidgets", "anywidget", "ipykernel", "nbformat"),
    "export": ("tensorboard", "mlflow"),
    "ray": ("ray",),
}


class MissingExtra(ImportError):
    """An extra that is not installed, in a sentence with the command that installs it."""


def require(extra: str, purpose: str) -> None:
    """Raise MissingExtra if a module of the extra is not installed; nothing is imported.

    >>> require("app", "The pages need it")
    """
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            raise MissingExtra(sentence(extra, module, purpose))


def sentence(extra: str, module: str, purpose: str) -> str:
    """Say that a module is missing, and how to install its extra.

    >>> sentence("train", "torch", "Training needs it")[:80]
    'Training needs it: torch is not installed. It comes with the extra train: pip in'
    """
    return (
        f"{purpose}: {module} is not installed. It comes with the extra {extra}: pip install"
        f" 'dpcore[{extra}]', or '.[{extra}]' in a checkout."
    )


def said(error: ModuleNotFoundError) -> str:
    """Say which extra has the module that was not found; "" if none has it.

    >>> said(ModuleNotFoundError(name="torch.nn"))[:65]
    'This needs more than NumPy and SciPy: torch is not installed. It '
    """
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return sentence(extra, module, "This needs more than NumPy and SciPy")
    return ""
