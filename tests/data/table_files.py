"""Small files in the formats in which the tables are published."""

from pathlib import Path

import numpy as np

ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male,"
    " 2174, 0, 40, United-States, <=50K\n52, Self-emp-not-inc, 209642, HS-grad, 9,"
    " Married-civ-spouse, Exec-managerial, Husband, White, Male, 0, 0, 45, United-States, >50K\n32,"
    " ?, 293936, 7th-8th, 4, Married-spouse-absent, ?, Not-in-family, White, Male, 0, 0, 40, ?,"
    " <=50K\n\n"
)
ADULT_TEST = (
    "|1x3 Cross validator\n25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct,"
    " Own-child, Black, Male, 0, 0, 40, United-States, <=50K.\n44, Private, 160323, Some-college,"
    " 10, Married-civ-spouse, Machine-op-inspct, Husband, Black, Male, 7688, 0, 40, United-States,"
    " >50K.\n\n"
)
BANK_FIELDS = (
    "age job marital education default housing loan contact month day_of_week duration campaign"
    " pdays previous poutcome emp.var.rate cons.price.idx cons.conf.idx euribor3m nr.employed y"
)
BANK_ROW = (
    '56;"housemaid";"married";"basic.4y";"no";"no";"no";"telephone";"may";"mon";261;1;999;0;"nonexistent";1.1;93.994;'
    '-36.4;4.857;5191;"{}"\n'
)
KDD_ROW = (
    "0,tcp,http,SF,181,5450,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,8,8,0.00,0.00,0.00,0.00,1.00,0.00,0.00,9,9,1.00,0.00,0.11,"
    "0.00,0.00,0.00,0.00,0.00,{}\n"
)


def write_adult(folder: Path) -> None:
    (folder / "adult.data").write_text(ADULT * 5)
    (folder / "adult.test").write_text(ADULT_TEST)


def write_bank(folder: Path) -> None:
    head = ";".join(f'"{name}"' for name in BANK_FIELDS.split())
    rows = "".join(BANK_ROW.format(word) for word in ["no", "yes"] * 6)
    (folder / "bank-additional-full.csv").write_text(f"{head}\n{rows}")


def write_kddcup99(folder: Path) -> None:
    words = ["normal.", "smurf.", "neptune.", "normal."] * 4
    (folder / "kddcup.data_10_percent").write_text("".join(KDD_ROW.format(word) for word in words))


def write_credit_card(folder: Path) -> None:
    random = np.random.default_rng(0)
    head = ",".join(
        f'"{name}"'
        for name in ("Time", *(f"V{number}" for number in range(1, 29)), "Amount", "Class")
    )
    lines = [head]
    for place in range(40):
        parts = ",".join(f"{value:.13f}" for value in random.normal(size=28))
        lines.append(f'{place},{parts},149.62,"{int(place % 5 == 0)}"')
    (folder / "creditcard.csv").write_text("\n".join(lines) + "\n")


WRITERS = {
    "adult": write_adult,
    "bank": write_bank,
    "kddcup99": write_kddcup99,
    "credit_card": write_credit_card,
}
