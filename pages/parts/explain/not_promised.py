"""What epsilon does not promise: the misunderstandings that a number invites."""

NOT_PROMISED = (
    (
        "That the model is good.",
        "Epsilon says nothing about accuracy, and nothing about fairness: groups with few examples lose most "
        "(Bagdasaryan et al. 2019, arXiv:1905.12101).",
    ),
    (
        "That nothing is learned about you.",
        "What many people share can be learned without you: that smoking harms is learned from others, and holds for "
        "you. What is hidden is only whether your example took part.",
    ),
    (
        "Groups.",
        "It protects one example at a time ([adjacency|adjacency]). For k examples of one person, or of "
        "one family, epsilon grows to k times as much, and delta by more than that.",
    ),
    (
        "Secrets that many share.",
        "A password that stands in a hundred examples is a group of a hundred.",
    ),
    (
        "Several releases.",
        "Each further model, table or picture made from the same data adds its own epsilon to this one.",
    ),
    (
        "The choice of settings.",
        "To train many times and to publish the best is a further release. What it costs is not counted here "
        "(Papernot and Steinke 2022, arXiv:2110.03620).",
    ),
    (
        "What is shown while it trains.",
        "Losses, clipped shares and gradient norms on these pages are exact figures of the training data. Epsilon is "
        "the price of the model alone.",
    ),
    (
        "The machine.",
        "The proof is about real numbers, and the noise is floating point. On CUDA the noise comes from a generator "
        "that is not a cryptographic one, unless the secure one is chosen. Timing, logs and backups are not covered.",
    ),
)
