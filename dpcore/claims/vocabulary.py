"""The usual names of a claim's numbers, and how each is written beside its name."""

import re

from dpcore.claims.printed import NUMBER
from dpcore.privacy.accountants import ACCOUNTANTS

GAP = (  # between a name and its number
    r"[\s\"'`*_)\]}$\\]{0,8}(?:=|:|≈|≃|~|≤|<=|<|of|is|was|at most|about|equal to|set to)?[\s\"'`*($\[{\\~]{0,8}"
)
STRICT = r"[\s\"'`]{0,8}[=:][\s\"'`]{0,8}"  # where the name itself may follow a number
VALUE = rf"(?P<value>{NUMBER})"
FIRST = rf"(?<![\w.,/])(?<![x×] ){VALUE}"  # a number that its unit follows
EPSILON = r"(?:(?<!adam )\b(?!adam)(?:\w{1,20}_)?(?:epsilon|eps)\b|\\(?:var)?epsilon|[εϵ𝜖𝜀])"
DELTA = r"(?:\b(?:\w{1,20}_)?delta\b|\\delta|[δ𝛿])"
SIGMA = r"(?:\bnoise[ _-]?(?:multiplier|scale)\b|\bsigma\b|\\sigma|[σ𝜎])"
RATE = r"(?:\b(?:sub)?sampl(?:e|ing)[ _-](?:rate|probability|ratio)\b|(?-i:(?<!\w)q)(?=\s{0,3}[=:≈]|\s[\d.]))"
WHOLE_BATCH = r"(?<!micro)(?<!micro[ _-])(?<!physical[ _])(?<!device[ _])(?<!device_train_)"  # the one that is noised
BATCH = rf"(?:{WHOLE_BATCH}\b(?:batch(?:es)?|(?:batch|minibatch|lot)[ _-]?size)\b|(?-i:(?<!\w)B)(?=\s{{0,3}}=))"
PEOPLE = r"(?:examples|samples|images|records|rows|individuals|reviews|sentences|documents)"
TRAINING = r"(?:train(?:ing)?[ _-])?"
COUNT = (
    rf"(?:\b(?:num|number of)[ _]{TRAINING}(?:examples|samples)\b|\bdata ?set size\b|(?-i:(?<!\w)[nN])(?=\s{{0,3}}=))"
)
TURNS = r"(?:steps|iterations|updates)"
STEPS = rf"(?:\b(?:(?:num|number of|total|max)[ _])?{TURNS}\b|(?-i:(?<!\w)T)(?=\s{{0,3}}=))"
EPOCHS = r"\b(?:(?:num|number of|max)[ _])?epochs\b"
NO_NAME = rf"(?!{STRICT}|\s(?:per|an|each)\b)"  # behind a unit: it begins nothing else
PAIR = re.compile(
    rf"(?P<named>\(?{EPSILON}\s?,\s?{DELTA}\)?\W{{1,8}}(?:\w{{1,8}}\s)?)?"
    rf"\(\s?(?P<epsilon>{NUMBER})\s?,\s?(?P<delta>{NUMBER})\s?\)(?P<after>\$?\s?[-‐–]?\s?(?:differential|DP\b))?",
    re.IGNORECASE,
)
LOG_LINE = re.compile(r"^.*\bTrain Epoch:\s{0,8}(?P<value>\d{1,9})\b(?! ?/).*$", re.MULTILINE)
NUMBERS = tuple(  # in the order in which they are looked for: what one has read, no other reads
    (field, re.compile(pattern, re.IGNORECASE))
    for field, pattern in (
        ("epsilon", rf"{EPSILON}{GAP}{VALUE}"),
        ("epsilon", rf"\bprivacy budget{GAP}{VALUE}"),
        ("delta", rf"{DELTA}{GAP}{VALUE}"),
        ("sigma", rf"{SIGMA}{GAP}{VALUE}"),
        ("q", rf"{RATE}{GAP}{VALUE}"),
        ("batch", rf"{BATCH}{GAP}{VALUE}(?:\s{PEOPLE})?"),
        ("examples", rf"{COUNT}{GAP}{VALUE}"),
        ("examples", rf"\bexamples{STRICT}{VALUE}"),
        ("examples", rf"{FIRST}[ -]{TRAINING}{PEOPLE}\b{NO_NAME}"),
        ("epochs", rf"{EPOCHS}{STRICT}{VALUE}"),
        ("epochs", rf"{FIRST}[ -](?:training )?epochs?\b{NO_NAME}"),
        ("steps", rf"{STEPS}{STRICT}{VALUE}"),
        ("steps", rf"(?<!every )(?<!epochs of )(?<!epoch of ){FIRST}[ -](?:training |gradient )?{TURNS}\b{NO_NAME}"),
    )
)
ASIDE = re.compile(r"account\w*[^.;]{0,20}\bpoisson\b|\bpoisson\b[^.;]{0,12}account\w*", re.IGNORECASE)
NEGATED = r"(?<!no )(?<!not )(?<!non-)(?<!without )"
WORDS = tuple(  # the field, its value, and the words that name it
    (field, value, re.compile(pattern, re.IGNORECASE))
    for field, value, pattern in (
        ("sampler", "poisson", rf"{NEGATED}\bpoisson\b"),
        ("sampler", "shuffle", rf"{NEGATED}\b(?:re)?shuffl(?:ed|ing|e)\b"),
        ("sampler", "fixed_order", rf"{NEGATED}\bfixed order\b"),
        ("sampler", "random_allocation", r"\brandom allocation\b|\bballs[ -](?:in|and)[ -]bins\b"),
        ("sampler", "fixed_size", r"\bwithout replacement\b"),
        ("adjacency", "add_remove", r"\badd(?:ition)?(?: ?/ ?|[ -](?:or[ -])?)remov(?:e|al)\b"),
        ("adjacency", "replace_one", r"\breplace[ -](?:by[ -])?one\b|\bsubstitution adjacency\b"),
        ("adjacency", "zero_out", r"\bzero[ -]out\b"),
        *(("accountant", name, each.spellings) for name, each in ACCOUNTANTS.items() if each.spellings),
    )
)
