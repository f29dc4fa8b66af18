"""The accuracies that paper 000 prints, in per cent."""

FIGURE_3 = {  # of PIAdam, PIRMSprop, PIAdagrad
    "MNIST": ("95.16", "94.4", "93.47"),
    "Fashion-MNIST": ("83", "81.99", "79.99"),
    "CIFAR-10": ("73.5", "68.93", "67.34"),
}
FIGURE_5 = {  # sigma -> method -> accuracy on MNIST
    8.0: {"PIAdam, as coded": "92.02", "ADADP": "91.25", "ADPPL": "90.92", "EXP": "89.75", "DP-SGD": "88.91"},
    4.0: {"PIAdam, as coded": "95.93", "ADADP": "95.43", "ADPPL": "94.94", "EXP": "94.54", "DP-SGD": "94"},
    2.0: {"PIAdam, as coded": "98.21", "DP-SGD": "96.81"},
}
FIGURE_8 = {  # on CIFAR-10
    8.0: {"PIAdam, as coded": "69.63", "ADADP": "68.06", "ADPPL": "65.93", "EXP": "63.22", "DP-SGD": "65.01"},
    4.0: {"PIAdam, as coded": "73.99", "ADADP": "69.56", "ADPPL": "73", "EXP": "71", "DP-SGD": "68.05"},
    2.0: {"PIAdam, as coded": "76.07", "DP-SGD": "69.11"},
}
# On MNIST at epsilon 0.5, and at epsilon 8.
FIGURE_6 = {"PIAdam, as coded": "91", "ADADP": "90", "ADPPL": "89.7", "EXP": "89", "DP-SGD": "88.9"}
AT_8 = ("PIAdam, as coded", "97.5")
WITHIN = {"MNIST": (FIGURE_5, 1), "CIFAR-10": (FIGURE_8, 2)}  # PIAdam "improves within" so many % at sigma 2 ...
OVER = ("ADADP", "ADPPL", "EXP")  # ... over these
