"""Named training recipes on the full data: the papers' settings, and candidates for the best at a certified epsilon."""

from typing import Any

Recipe = dict[str, Any]  # fields of RunConfig

FULL: Recipe = {"source": "full", "delta": 1e-5}
PAPER_001 = FULL | {"model": "cnn", "activation": "tanh", "optimizer": "sgd", "momentum": 0.9, "clip_norm": 0.1}
MNIST_001 = PAPER_001 | {"dataset": "mnist", "lr": 0.5, "batch": 512, "sigma": 1.23, "epochs": 40.0}
FASHION_001 = PAPER_001 | {"dataset": "fashion_mnist", "lr": 4.0, "batch": 2048, "sigma": 2.15, "epochs": 40.0}
SA = {"acceptance": "sa", "public": 5000}

# The certified accountant leaves room that classic RDP does not see: these go on until its upper bound reaches 3.
UNTIL_3 = {"stop_epsilon": 3.0, "stop_accountant": "pld", "epochs": 400.0}
MNIST_3 = MNIST_001 | UNTIL_3
FASHION_3 = FASHION_001 | UNTIL_3
LINEAR = {"lr_schedule": "linear", "ema": 0.99}
COSINE = {"lr_schedule": "cosine", "ema": 0.99}

# Paper 000's text: one hidden layer of 1,000, lot 600, C 4, sigma 4, 100 epochs, at certified epsilon 0.947.
FC_1000 = FULL | {
    "dataset": "mnist",
    "model": "mlp",
    "activation": "relu",
    "batch": 600,
    "clip_norm": 4.0,
    "sigma": 4.0,
    "epochs": 100.0,
}

RECIPES: dict[str, Recipe] = {
    "mnist-001": MNIST_001,
    "fashion-001": FASHION_001,
    "mnist-001-sa": MNIST_001 | SA,
    "fashion-001-sa": FASHION_001 | SA,
    "mnist-001-auto_s": MNIST_001 | {"clipping": "auto_s"},
    "fashion-001-auto_s": FASHION_001 | {"clipping": "auto_s"},
    "mnist-3-longer": MNIST_3 | {"ema": 0.99},
    "mnist-3-linear": MNIST_3 | LINEAR,
    "mnist-3-1024": MNIST_3 | COSINE | {"batch": 1024, "sigma": 1.6, "lr": 1.0},
    "mnist-3-2048": MNIST_3 | COSINE | {"batch": 2048, "sigma": 2.15, "lr": 2.0},
    "mnist-3-2048-auto_s": MNIST_3 | COSINE | {"batch": 2048, "sigma": 2.15, "lr": 2.0, "clipping": "auto_s"},
    "mnist-3-4096": MNIST_3 | COSINE | {"batch": 4096, "sigma": 3.0, "lr": 4.0},
    "fashion-3-longer": FASHION_3 | {"ema": 0.99},
    "fashion-3-linear": FASHION_3 | LINEAR,
    "fashion-3-cosine": FASHION_3 | COSINE,
    "fashion-3-auto_s": FASHION_3 | COSINE | {"clipping": "auto_s"},
    "fashion-3-4096": FASHION_3 | COSINE | {"batch": 4096, "sigma": 3.0, "lr": 8.0},
    "fc1000-sgd": FC_1000 | {"optimizer": "sgd", "lr": 0.1, "momentum": 0.0},
    "fc1000-adam": FC_1000 | {"optimizer": "adam", "lr": 0.001},
    "fc1000-pi_adam": FC_1000 | {"optimizer": "pi_adam", "lr": 0.001},
    "fc1000-pi_rmsprop": FC_1000 | {"optimizer": "pi_rmsprop", "lr": 0.001},
    "fc1000-pi_adagrad": FC_1000 | {"optimizer": "pi_adagrad", "lr": 0.01},
    "abadi-004-007": FULL
    | {
        "dataset": "mnist",
        "model": "abadi",
        "activation": "relu",
        "pca": 60,
        "pca_sigma": 7.0,
        "clipping": "per_layer",
        "clip_norm": 4.0,
        "sigma": 4.0,
        "batch": 600,
        "optimizer": "sgd",
        "momentum": 0.0,
        "lr": 0.1,
        "lr_schedule": "linear",
        "lr_end": 0.052,
        "lr_epochs": 10.0,
        "epochs": 100.0,
    },
}
