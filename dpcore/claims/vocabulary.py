"""Patterns of the usual names of a claim's numbers and words."""

import re

from dpcore.claims.printed import NUMBER
from dpcore.privacy.accountants import ACCOUNTANTS

GAP = (  # between a name and its number
    r"[\s\"'`*_)\]}$\\]{0,8}(?:=|:|≈|≃|~|≤|<=|<|of|is|was|at most|about|equal to|set to)?[\s\"'`*($\[{\\~]{0,8}"
)
STRICT = r"[\s\"'`]{0,8}[=:][\s\"'`]{0,8}"  # for names that may also follow a number
VALUE = rf"(?P<value>{NUMBER})"
PART = r"(?<!\d\s)(?<!\d[-−–])(?<!\d\s[-−–]\s)(?<!\d\sto\s)(?<!\d\sor\s)"  # of 10 000, of 5 to 10
FIRST = rf"(?<![\w.,/])(?<![x×] ){PART}{VALUE}"  # a number that its unit follows
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
NO_NAME = rf"(?!{STRICT}|\s(?:in\s)?(?:per|an|each|every)\b)"  # after a unit that is no name itself
PAIR = re.compile(
    rf"(?P<named>\(?{EPSILON}\s?,\s?{DELTA}\)?\W{{1,8}}(?:\w{{1,8}}\s)?)?"
    rf"\(\s?(?P<epsilon>{NUMBER})\s?,\s?(?P<delta>{NUMBER})\s?\)(?P<after>\$?\s?[-‐–]?\s?(?:differential|DP\b))?",
    re.IGNORECASE,
)
HALF_PAIR = re.compile(  # a pair whose second number is in letters
    rf"\(?{EPSILON}\s?,\s?{DELTA}\)?\W{{1,8}}(?:\w{{1,8}}\s)?\(\s?(?P<value>{NUMBER}\s?,[^()\n]{{0,30}})\)?",
    re.IGNORECASE,
)
NO_STEPS = re.compile(  # words before a number of steps other than training steps
    r"(?:\bepochs? of|\bevery|\baccumulat\w*[^.,;\n\d]{0,20}|\bwarm(?:ed|ing)?[- _]?up[^.,;\n\d]{0,12}|"
    r"\b(?:logg?(?:ing)?|eval(?:uation)?|sav(?:e|ing)|decay|checkpoint\w*|inner|local|micro))[ _-]?$",
    re.IGNORECASE,
)
ACCUMULATED = re.compile(  # a batch may then be a part of the noisy one
    r"\bgradients?[ _-]accumulat\w*(?![\w ]{0,20}[:=]\s?1\b)|"
    r"\baccumulat\w*[ _-](?:(?:the|over|of)[ ])?(?:\d{1,6}[ ])?(?:gradient|steps\b|micro|batch)(?!\w*\s?[:=]\s?1\b)",
    re.IGNORECASE,
)
LOG_LINE = re.compile(r"^.*\bTrain Epoch:\s{0,8}(?P<value>\d{1,9})\b(?! ?/).*$", re.MULTILINE)
NUMBERS = tuple(  # in the order of the search: the first pattern takes a number
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
        ("steps", rf"{FIRST}[ -](?:training |gradient )?{TURNS}\b{NO_NAME}"),
    )
)
ASIDE = re.compile(  # accounting as Poisson is not sampling like that; a comma ends it, unless it says what is assumed
    r"account\w*(?:[^.,;]{0,20}|[^.;]{0,20},\s(?:as|assum\w*|for|under|which|that)\b[^.;]{0,20})\bpoisson\b|"
    r"\bpoisson\b[^.,;]{0,12}account\w*",
    re.IGNORECASE,
)
DENIED = re.compile(  # negations before a word
    r"(?:\b(?:no|not|nor|never|neither|non|without|unlike|than|instead of|in place of)|n['’]t)"
    r"(?:[\s(-]{1,3}(?!but\b)\w{1,12}){0,2}[\s(-]{1,3}$",
    re.IGNORECASE,
)
WORDS = tuple(  # the field, its value, and its words
    (field, value, re.compile(pattern, re.IGNORECASE))
    for field, value, pattern in (
        ("sampler", "poisson", r"\bpoisson\b"),
        ("sampler", "shuffle", r"\b(?:re)?shuffl(?:ed|ing|e)\b"),
        ("sampler", "fixed_order", r"\bfixed order\b"),
        ("sampler", "random_allocation", r"\brandom allocation\b|\bballs[ -](?:in|and)[ -]bins\b"),
        ("sampler", "fixed_size", r"\bwithout replacement\b"),
        ("adjacency", "add_remove", r"\badd(?:ition)?(?: ?/ ?|[ -](?:or[ -])?)remov(?:e|al)\b"),
        ("adjacency", "replace_one", r"\breplace[ -](?:by[ -])?one\b|\bsubstitution adjacency\b"),
        ("adjacency", "zero_out", r"\bzero[ -]out\b"),
        *(("accountant", name, each.spellings) for name, each in ACCOUNTANTS.items() if each.spellings),
    )
)
