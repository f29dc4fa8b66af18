"""Tables that come as delimited text, as they are published; what is learnt from them, and which rows are kept.

Adult: who earned more than 50,000 dollars in 1994. Bank: which client took a deposit after a call. KDDCup99: which
connection is an attack. Credit card fraud: all frauds and as many other payments.
"""

import numpy as np

from dpcore.data.tabular.columns import Category, Number, spaced
from dpcore.data.tabular.delimited import Lines, Original

ADULT_FIELDS = spaced(  # fnlwgt, the number of people that a row stands for, is not learnt from
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country class"
)
ADULT_COLUMNS = (
    Number("age", 17, 90),
    Category(
        "workclass",
        spaced("Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"),
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
    fields=ADULT_FIELDS,
    columns=ADULT_COLUMNS,
    words=((">50K", 0), ("<=50K", 1)),
    chosen=complete,
    openml=1590,
)


KNOWN = ("no", "yes", "unknown")
BANK_COLUMNS = (
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
    fields=(*(column.name for column in BANK_COLUMNS), "y"),
    columns=BANK_COLUMNS,
    words=(("yes", 0), ("no", 1)),
    separator=";",
    header=True,
)


KDD_ROWS = 70_000  # rows, as many as in the paper
SERVICES = spaced(
    "aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs exec finger ftp ftp_data "
    "gopher harvest hostnames http http_2784 http_443 http_8001 icmp imap4 IRC iso_tsap klogin kshell ldap link login "
    "mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp ntp_u other pm_dump pop_2 pop_3 printer private "
    "red_i remote_job rje shell smtp sql_net ssh sunrpc supdup systat telnet tftp_u tim_i time urh_i urp_i uucp "
    "uucp_path vmnet whois X11 Z39_50"
)
KDD_COLUMNS = (
    Number("duration", 0, 60_000, log=True),
    Category("protocol_type", ("tcp", "udp", "icmp")),
    Category("service", SERVICES),
    Category("flag", spaced("OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH")),
    Number("src_bytes", 0, 1e9, log=True),
    Number("dst_bytes", 0, 1e9, log=True),
    Number("land", 0, 1),
    Number("wrong_fragment", 0, 3),
    Number("urgent", 0, 3),
    Number("hot", 0, 100, log=True),
    Number("num_failed_logins", 0, 5),
    Number("logged_in", 0, 1),
    Number("num_compromised", 0, 1000, log=True),
    Number("root_shell", 0, 1),
    Number("su_attempted", 0, 2),
    Number("num_root", 0, 1000, log=True),
    Number("num_file_creations", 0, 100, log=True),
    Number("num_shells", 0, 5),
    Number("num_access_files", 0, 10),
    Number("num_outbound_cmds", 0, 1),
    Number("is_host_login", 0, 1),
    Number("is_guest_login", 0, 1),
    Number("count", 0, 511),
    Number("srv_count", 0, 511),
    *(
        Number(name, 0, 1)
        for name in spaced(
            "serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate"
        )
    ),
    Number("dst_host_count", 0, 255),
    Number("dst_host_srv_count", 0, 255),
    *(
        Number(f"dst_host_{name}", 0, 1)
        for name in spaced(
            "same_srv_rate diff_srv_rate same_src_port_rate srv_diff_host_rate serror_rate srv_serror_rate rerror_rate "
            "srv_rerror_rate"
        )
    ),
)


def at_fixed_places(lines: Lines) -> Lines:
    """Rows at fixed random positions: which ones does not depend on what stands in them."""
    if len(lines) <= KDD_ROWS:
        return lines
    return [lines[place] for place in np.random.RandomState(0).permutation(len(lines))[:KDD_ROWS]]


KDDCUP99 = Original(
    name="kddcup99",
    title="KDDCup99",
    classes=("normal", "attack"),
    bound=6.5,
    origin="KDD Cup 1999, S. Hettich and S. D. Bay, UCI: 70,000 of the 494,021 rows of the tenth part",
    files=("kddcup.data_10_percent",),
    fields=(*(column.name for column in KDD_COLUMNS), "label"),
    columns=KDD_COLUMNS,
    words=(("normal", 0),),
    otherwise=1,
    chosen=at_fixed_places,
    openml=1113,
)


COMPONENTS = tuple(f"V{number}" for number in range(1, 29))
FRAUD, GENUINE = "1", "0"


def balanced(lines: Lines) -> Lines:
    """All frauds, and as many others at fixed random positions: 984 rows, as in the paper."""
    words = [line.rpartition(",")[2].strip().strip('"') for line in lines]
    frauds = [line for line, word in zip(lines, words, strict=True) if word == FRAUD]
    others = [line for line, word in zip(lines, words, strict=True) if word != FRAUD]
    places = np.random.RandomState(0).permutation(len(others))[: len(frauds)]
    return [*frauds, *(others[place] for place in places)]


CREDIT_CARD = Original(
    name="credit_card",
    title="Credit card fraud",
    classes=("fraud", "genuine"),
    bound=2.0,
    origin="Credit Card Fraud Detection, Worldline and ULB, 2018: 984 rows, half of them frauds",
    files=("creditcard.csv",),
    fields=("Time", *COMPONENTS, "Amount", "Class"),
    columns=(*(Number(name, -10, 10) for name in COMPONENTS), Number("Amount", 0, 25_000, log=True)),
    words=((FRAUD, 0), (GENUINE, 1)),
    header=True,
    chosen=balanced,
    openml=1597,
)
