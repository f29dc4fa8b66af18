"""Adult: who earned more than 50,000 dollars in 1994, as UCI publishes it (adult.data and adult.test)."""

from dpcore.data.tabular.columns import Category, Number, spaced
from dpcore.data.tabular.delimited import Lines, Original

FIELDS = (
    "age",
    "workclass",
    "fnlwgt",  # how many people a row stands for: not learnt from
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "class",
)
COLUMNS = (
    Number("age", 17, 90),
    Category(
        "workclass",
        (
            "Private",
            "Self-emp-not-inc",
            "Self-emp-inc",
            "Federal-gov",
            "Local-gov",
            "State-gov",
            "Without-pay",
            "Never-worked",
        ),
    ),
    Category(
        "education",
        spaced(
            "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th "
            "10th Doctorate 5th-6th Preschool"
        ),
    ),
    Number("education-num", 1, 16),
    Category(
        "marital-status",
        spaced("Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"),
    ),
    Category(
        "occupation",
        spaced(
            "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
            "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
            "Armed-Forces"
        ),
    ),
    Category("relationship", ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried")),
    Category("race", ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black")),
    Category("sex", ("Female", "Male")),
    Number("capital-gain", 0, 99_999, log=True),
    Number("capital-loss", 0, 4_356, log=True),
    Number("hours-per-week", 1, 99),
    Category(
        "native-country",
        spaced(
            "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece "
            "South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
            "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
            "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"
        ),
    ),
)


def complete(lines: Lines) -> Lines:
    """The rows without an unknown field: 45,222 of 48,842, as in the paper."""
    return [line for line in lines if "?" not in line]


ADULT = Original(
    name="adult",
    title="Adult",
    classes=("more than 50K", "at most 50K"),
    bound=3.5,
    origin="Adult, B. Becker and R. Kohavi, UCI, 1996: 45,222 complete rows",
    files=("adult.data", "adult.test"),
    fields=FIELDS,
    columns=COLUMNS,
    words=((">50K", 0), ("<=50K", 1)),
    chosen=complete,
    openml=1590,
)
