"""What stands beside the charts, and what they show in words (`ALT_...`) for those who cannot see them."""

TRADEOFF = "No attack gets below the grey curve; on the dotted line an attacker might as well toss a coin."
NO_BAND = (
    "**Nothing is certified here**, so there is no grey band. On the dotted line an attacker might as well toss a coin."
)
COMING = "The certified band takes a moment at this setting: until it is there, the chart shows the other curves."
ALT_EPSILON = "Line chart of epsilon against epoch for each chosen accountant, with the certified band."
ALT_PROFILE = "Line chart of delta against epsilon for each chosen accountant, with the certified band."
ALT_TRADEOFF = (
    "Line chart of the least type II error against the type I error of an attacker who guesses membership: the "
    "certified band, the curve of the central limit theorem, and blind guessing."
)
ALT_ATTACK = {
    False: ALT_TRADEOFF[:-1] + ", with the region of one pair and the curve of all pairs of an accountant.",
    True: "Line chart of the largest true-positive rate against the false-positive rate, both logarithmic: the "
    "certified band, the curve of the central limit theorem, one pair, all pairs, and blind guessing.",
}
ALT_STEPS = "Line chart of certified trade-off curves for growing numbers of steps, and the limit they approach."
