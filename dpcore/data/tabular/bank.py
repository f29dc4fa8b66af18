"""Bank: which client took a deposit after a call, as UCI publishes it (bank-additional-full.csv)."""

from dpcore.data.tabular.columns import Category, Number, spaced
from dpcore.data.tabular.delimited import Original

KNOWN = ("no", "yes", "unknown")
COLUMNS = (
    Number("age", 17, 98),
    Category(
        "job",
        spaced(
            "admin. blue-collar entrepreneur housemaid management retired self-employed services student technician "
            "unemployed unknown"
        ),
    ),
    Category("marital", ("divorced", "married", "single", "unknown")),
    Category(
        "education",
        spaced("basic.4y basic.6y basic.9y high.school illiterate professional.course university.degree unknown"),
    ),
    Category("default", KNOWN),
    Category("housing", KNOWN),
    Category("loan", KNOWN),
    Category("contact", ("cellular", "telephone")),
    Category("month", spaced("jan feb mar apr may jun jul aug sep oct nov dec")),
    Category("day_of_week", ("mon", "tue", "wed", "thu", "fri")),
    Number("duration", 0, 4_918, log=True),
    Number("campaign", 1, 56, log=True),
    Number("pdays", 0, 999),
    Number("previous", 0, 7),
    Category("poutcome", ("failure", "nonexistent", "success")),
    Number("emp.var.rate", -3.4, 1.4),
    Number("cons.price.idx", 92.201, 94.767),
    Number("cons.conf.idx", -50.8, -26.9),
    Number("euribor3m", 0.634, 5.045),
    Number("nr.employed", 4_963.6, 5_228.1),
)

BANK = Original(
    name="bank",
    title="Bank",
    classes=("deposit", "no deposit"),
    bound=4.2,
    origin="Bank Marketing, S. Moro, P. Cortez and P. Rita, UCI, 2014: 41,188 rows",
    files=("bank-additional-full.csv",),
    fields=(*(column.name for column in COLUMNS), "y"),
    columns=COLUMNS,
    words=(("yes", 0), ("no", 1)),
    separator=";",
    header=True,
)
