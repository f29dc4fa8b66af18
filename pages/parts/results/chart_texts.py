"""What stands beside the charts."""

TRADEOFF = "No attack gets above the grey curve; on the dotted line an attacker might as well toss a coin."
NO_BAND = (
    "**Nothing is certified here**, so there is no grey band. On the dotted line an attacker might as well toss a coin."
)
COMING = "The certified band takes a moment at this setting: until it is there, the chart shows the other curves."
