"""Reads a question about molecules: which parts it has, what each asks for, of which molecules, and which of its words nothing has read."""

import difflib
import re
from dataclasses import dataclass, field

from . import units
from .names import find_molecules, near, opsin, resolve
from .vocabulary import AROUND, BYE, CANNOT, ELEMENTS, GREETING, GROUPS, NAMES, OPERATIONS, PLAN_ONLY, PRONOUN, PROPERTIES, THANKS, WHO

MARK = 0xE000  # the first sign of those that stand for a molecule while a sentence is read
MOST = 4000  # characters that are read of a question
MOST_SIGNS = 32  # molecules that are read of a question
ABBREVIATED = re.compile(
    r"\b(?:mol\.? ?(?:wt|weight)\.?|m\.w\.|wt\.|approx\.|e\.g\.|i\.e\.|etc\.|no\.|vs\.|resp\.|ca\.|bzw\.|z\.B\.|Dr\.|Prof\.|"
    r"a\.u\.)(?=[\s?,:])", re.I)
VERB = (
    r"(?:calculate|compute|determine|find|give|tell|list|show|convert|compare|rank|check|count|evaluate|predict|run|optimi[sz]e|simulate|analy[sz]e|search|design|look|"
    r"what|how|which|is|are|does|do|was|"
    r"wie|welche\w*|ist|sind|hat|berechne|nenne|validate|name|draw|also)")
SPLIT = re.compile(
    rf"[.!?;]+(?:\s+|$)|\n+|,?\s*\b(?:and\s+)?(?:then|afterwards|after that|finally|danach|anschließend)\b,?\s*|,\s*from (?:that|this|"
    rf"it)\s+|,\s*(?:and|und)\s+(?={VERB}\b)|\s+(?:and|und|but|aber)\s+(?={VERB}\b)|,\s+(?=(?:what|how|which|is|are|does)\b)", re.I)


QUANTITY = r"\b(?:grams|gramm|moles|millimoles|milligrams|kilograms)\b(?= (?:of|in|are|is|do|does|sind|ist|needed|von))"
GIVEN_SMILES = (
    r"smiles(?: string| notation| code)?(?: is)?\s*[:=]?\s*[\"'`(]?[\uE000-\uE0FF]"
    r"|\b(?:this|that|these|following|given|of the|as a?|an?|ein\w*) (?:\w+ )?(?:smiles|structures?)\b")


# Words that are often typed wrong, and are read all the same.
TYPED = ("molecular", "weight", "formula", "formulas", "weights", "canonical", "stereocentres", "functional", "groups", "valid", "compare", "molekulargewicht", "summenformel", "calculate", "exact")
NUMERIC = {"greatest", "least", "ascending", "descending", "difference", "ratio", "sum", "average"}


NEGATED = re.compile(r"\b(?:not|without|except|nicht|ohne|(?:don't|do not) (?:give|tell|need|want|show)(?: me)?)\s+(?:me )?(?:the |its |die |das |den |der )?$", re.I)
YES_OR_NO = {"valid", "chiral", "aromatic", "charge", "lipinski", "has element"}
SAME_PROPERTY = re.compile(
    r"\bsame (?:number|molecular|chemical|molar|formula|weight|mass|charge|log|polar|amount|empirical|exact|degree|total|elements|summenformel)|gleiche\w* (?:summenformel|masse|molmasse)", re.I)


# "The weight of aspirin, the formula of caffeine": each property has a molecule of its own.
EACH_OF_ITS_OWN = re.compile(
    r"(?<=[\uE000-\uE0FF])(?:\s*,\s*(?:and |und )?|\s+(?:and|und)\s+)(?=(?:the |die |das )?(?:molecular |molar |exact |empirical )?"
    r"(?:weights?|mass|formula|log ?p|tpsa|smiles|mw|name|charge|structure|number of \w+|polar surface)\w*\s+(?:of|for|von)\b)", re.I)


@dataclass
class Ask:
    """One thing that is asked for: a property, with the element or the group that it is about."""

    kind: str
    element: str | None = None
    group: tuple | None = None
    words: str = ""


@dataclass
class Clause:
    """One part of a question."""

    text: str
    molecules: list = field(default_factory=list)
    asks: list = field(default_factory=list)
    operations: list = field(default_factory=list)
    cannot: list = field(default_factory=list)
    amounts: list = field(default_factory=list)  # (value, kind, unit)
    unit: tuple | None = None  # what an answer is wanted in: (kind, unit)
    units: list = field(default_factory=list)  # further ones
    social: list = field(default_factory=list)
    unread: list = field(default_factory=list)
    inherits: bool = False  # its molecules are those of the part before

    def has(self, operation):
        return operation in self.operations

    @property
    def empty(self):
        return not (self.molecules or self.asks or self.operations or self.cannot or self.amounts or self.unit or self.social or self.unread)


@dataclass
class Reading:
    clauses: list
    molecules: list

    @property
    def unread(self):
        return [word for clause in self.clauses for word in clause.unread]


def excerpt(words):
    """The beginning and the end of a long text: what the expressions here cost grows faster than its length."""
    return words if len(words) <= MOST else words[:MOST - 1000] + "\n\n" + words[-1000:]


def read(text, before=()):
    """The reading of a question. `before` are the molecules that were spoken of earlier in the conversation."""
    reading = read_once(text, before)
    mended = text
    for word in [word for unknown in reading.unread for word in unknown.split() if len(word) > 4]:
        alike = difflib.get_close_matches(word.lower(), TYPED, 1, 0.8)
        mended = re.sub(rf"\b{re.escape(word)}\b", alike[0], mended) if alike else mended
    return reading if mended == text else read_once(mended, before)


def mark_molecules(text):
    """The text with one sign in place of each molecule, so that nothing is read inside of one; and what the signs stand for: (written, molecule)."""
    marked, at, signs = "", 0, []
    for start, end, molecule in find_molecules(text)[:MOST_SIGNS]:
        marked += text[at:start] + chr(MARK + len(signs))
        signs.append((text[start:end], molecule))
        at = end
    return marked + text[at:], signs


def molecules_of(marked, signs):
    return [signs[ord(sign) - MARK][1] for sign in marked if MARK <= ord(sign) < MARK + len(signs)]


def is_something(part):
    return bool(part and part.strip(" ,.:-"))


def read_once(text, before):
    marked, signs = mark_molecules(ABBREVIATED.sub(lambda match: match[0].replace(".", ""), excerpt(text)))
    parts = [one for whole in SPLIT.split(marked) if whole for one in EACH_OF_ITS_OWN.split(whole)]
    clauses = [read_clause(part.strip(" ,"), molecules_of(part, signs)) for part in parts if is_something(part)]
    clauses = [clause for clause in clauses if not clause.empty]
    add_unknown_names(clauses)
    inherit(clauses, list(before))
    return Reading(clauses, [molecule for clause in clauses for molecule in clause.molecules])


def parts_of(text):
    """The parts of a text in its own words, each with the molecules in it."""
    marked, signs = mark_molecules(excerpt(text))
    parts = []
    for part in SPLIT.split(marked):
        if is_something(part):
            said = "".join(signs[ord(sign) - MARK][0] if MARK <= ord(sign) < MARK + len(signs) else sign for sign in part)
            parts.append((said.strip(" ,"), molecules_of(part, signs)))
    return parts


class Words:
    """The words of a part, of which each is taken once."""

    def __init__(self, text):
        self.left = text

    def take(self, pattern):
        """The first place that fits, and blanks in its stead."""
        match = re.search(pattern, self.left, re.I)
        if match:
            self.left = self.left[:match.start()] + re.sub(r"[^\s\uE000-\uE0FF]", " ", match[0]) + self.left[match.end():]
        return match

    def take_all(self, pattern):
        while (match := self.take(pattern)) and match[0].strip():
            yield match


def read_clause(text, named):
    clause, words = Clause(text), Words(text)
    clause.molecules = named if re.search(r"\bsame\b|identical|dasselbe", text, re.I) else distinct(named)
    for kind, pattern in (("bye", BYE), ("thanks", THANKS), ("who", WHO), ("greeting", GREETING), ("plan", PLAN_ONLY)):
        clause.social += [kind for _ in words.take_all(pattern)]
    read_mass_of_element(clause, words)
    read_quantities(clause, words)
    read_asks(clause, words)
    for match in words.take_all(rf"\b(?:{CANNOT})"):
        clause.cannot.append(match[0].lower().strip())
    for kind, pattern in OPERATIONS:
        if list(words.take_all(pattern)):
            clause.operations.append(kind)
    if re.search(r"how many (?:more|fewer)\b|um wie ?viel\b", clause.text, re.I):
        clause.operations.append("difference")
    if SAME_PROPERTY.search(clause.text):
        clause.operations = [kind for kind in clause.operations if kind != "same"] + ["same property"]
    clause.inherits = bool(words.take(PRONOUN)) or not clause.molecules
    clause.unread = unread(words.left)
    return clause


def read_mass_of_element(clause, words):
    """ "How many grams of carbon are in 44 g of CO2?" """
    match = words.take(rf"(?<!by )\b(?:how many |how much )?(?:grams?|gramm|mass|weight|masse) (?:of|von) (?P<element>{NAMES})\b(?=[^.?!]*\b(?:in|from)\b[^.?!]*[\uE000-\uE0FF])")
    if match:
        clause.asks.append(Ask("element", ELEMENTS[match["element"].lower()]))
        clause.unit = ("mass", "g")


def read_quantities(clause, words):
    """Numbers with a unit, and the unit that an answer is wanted in."""
    unit = units.pattern_of()
    target = words.take(rf"\b(?:in|into|to|as|nach|using|expressed in)\s+(?:units? of )?(?P<unit>{unit})")
    if target:
        clause.unit = units.unit_in(target["unit"])
        clause.units = [units.unit_in(match["unit"]) for match in words.take_all(rf"(?:,|\band|\bund)\s+(?:to |in |into )?(?P<unit>{unit})")]
    asked = words.take(rf"\b(?:how many|how much|wie ?viele?)\s+(?P<unit>{unit})") if clause.unit is None else None
    if asked:
        clause.unit = units.unit_in(asked["unit"])
    for match in words.take_all(rf"(?<![\w.-])(?P<number>{units.NUMBER})[  -]?(?P<unit>{unit})"):
        kind, name = units.unit_in(match["unit"])
        clause.amounts.append((units.number_of(match["number"]), kind, name))
    for match in words.take_all(r"\b(?P<number>a|an|one|two|three|four|five|ten|half a|ein|zwei|drei) (?P<unit>mol(?:es?)?|grams?|kilograms?)\b"):
        value = {"a": 1, "an": 1, "one": 1, "ein": 1, "two": 2, "zwei": 2, "three": 3, "drei": 3, "four": 4, "five": 5, "ten": 10, "half a": 0.5}[match["number"].lower()]
        clause.amounts.append((float(value), *units.unit_in(match["unit"])))
    for match in words.take_all(r"\b(?P<number>\d+|one|a single) (?:molecules?|moleküle?)(?= of\b| [\uE000-\uE0FF])"):
        number = 1 if not match["number"].isdigit() else int(match["number"])
        if number > 1 or re.search(r"\b(?:in|how many) (?:\w+ )?(?:grams?|kg|g)\b", clause.text, re.I):
            clause.amounts.append((number, "count", "molecules" if number > 1 else "molecule"))
    if clause.unit is None and (match := words.take(QUANTITY)):
        clause.unit = units.unit_in(match[0])
    if clause.amounts and words.take(r"\b(?:how many|number of|wie ?viele?) (?:molecules|moleküle|particles)\b"):
        clause.asks.append(Ask("molecules"))


def read_asks(clause, words):
    placed = []
    for match in words.take_all(r"(?:\b(?:how many|an?|any) )?\bbenzene rings?\b|\bbenzolringe?\b"):
        placed.append((match.start(), Ask("group", group=("benzene ring", "c1ccccc1"), words=match[0])))
    for match in words.take_all(rf"\b(?P<one>{NAMES})(?:[- ]to[- ]|:)(?P<other>{NAMES})(?: atoms?)?(?: ratios?)?\b"):
        placed += [(match.start(), Ask("element", ELEMENTS[match["one"].lower()])), (match.end(), Ask("element", ELEMENTS[match["other"].lower()]))]
        clause.operations.append("ratio")
    for kind, pattern in PROPERTIES:
        if kind == "groups":
            placed += read_groups(words)
        for match in words.take_all(rf"(?<![\w-])(?:{pattern})"):
            if kind not in YES_OR_NO and NEGATED.search(clause.text[:match.start()]):
                continue  # "but not the weight"; "why is it not valid" asks all the same
            element = next((value for name, value in match.groupdict().items() if name.startswith("element") and value), None)
            symbol = ELEMENTS.get(element.lower(), element) if element else None
            placed.append((match.start(), Ask(kind, symbol, words=match[0].strip())))
            if kind in ("element", "percent", "has element"):
                placed += more_elements(kind, words, match.end())
    clause.asks += [ask for _, ask in sorted(placed, key=lambda one: one[0])]
    clause.asks = [ask for ask in clause.asks if not only_points(ask, clause)]
    written = any(molecule.how in ("smiles", "unknown") for molecule in clause.molecules) or not clause.molecules
    clause.asks = [ask for ask in clause.asks if ask.kind != "valid" or written or not re.fullmatch(r"right|correct\w*(?: written)?", ask.words, re.I)]
    if any(ask.kind == "canonical" for ask in clause.asks):
        clause.asks = [ask for ask in clause.asks if ask.kind != "smiles"]


def only_points(ask, clause):
    """Whether "SMILES" or "name" says which molecule is meant, as in "the weight of the SMILES CCO", and asks for nothing."""
    others = any(other.kind not in ("smiles", "name", "valid") for other in clause.asks)
    if ask.kind == "smiles":
        given = re.search(GIVEN_SMILES, clause.text, re.I)
        return bool(given) and (others or any(other.kind in ("valid", "name") for other in clause.asks))
    if ask.kind == "name":
        which = re.match(r"which|what (?:molecule|compound|substance)|what is this|identif", ask.words, re.I)
        return bool(which) and (others or bool(re.search(r"heav|light|high|low|larg|small|most|more|least|fewe|contain|has |have ", clause.text, re.I)))
    return False


def more_elements(kind, words, at):
    """The other elements of a list such as "carbon and hydrogen atoms"."""
    found = []
    while match := re.match(rf"(?:\s*,\s*|\s*,?\s*\b(?:and|und|or|oder)\s+)(?:from |of |von )?(?P<element>{NAMES})(?:[- ]?(?:atoms?|atome?))?\b", words.left[at:], re.I):
        found.append((at + match.start("element"), Ask(kind, ELEMENTS[match["element"].lower()])))
        words.left = words.left[:at] + " " * match.end() + words.left[at + match.end():]
        at += match.end()
    return found


def read_groups(words):
    """Functional groups by their names: they are counted, or looked for."""
    found = []
    for name, pattern, smarts in GROUPS:
        match = words.take(rf"(?<![\w-])(?:(?:how many|(?:the )?number of|count(?: the)?|wie ?viele?|any|an?|the|eine?) )?(?:{pattern})(?![\w-])")
        if match:
            found.append((match.start(), Ask("group", group=(name, smarts), words=match[0].strip())))
    return found


def unread(left):
    """The words that nothing has read and that are none of the sentence, those that stand together as one."""
    found, last = [], None
    for match in re.finditer(r"[^\s\uE000-\uE0FF]+", left):
        word = match[0].strip("\"'`“”„‘’.,;:!?[]{}<>…–—-*#=/|")
        word = word if word.count("(") == word.count(")") and not (word.startswith("(") and word.endswith(")")) else word.strip("()")
        if not word or word.lower() in AROUND or re.fullmatch(r"[\d.,%]+|\d+\.?\)?|(?:[a-z]['’])?s", word, re.I):
            last = None
            continue
        if last is not None and not left[last:match.start()].strip():
            found[-1] += " " + word
        else:
            found.append(word)
        last = match.end() if left[match.end() - 1] not in ",;:!?)" else None
    return found


NAME_BEFORE = (
    r"(?:\b(?:of|for|in|does|is|has|about|von|für|hat|ist|from|between|and|or|und|compare|weighs?|the|to|vs\.?|called|molecule|compound|"
    r"than|eines|einer)|[\uE000-\uE0FF],|,)\s*(?:the |an? )?[\"'`“„(]?$")
CHEMICAL = re.compile(
    r"(?:\w*(?:ane|ene|yne|anol|enol|ol|one|oic acid|ic acid|amine|amide|imine|ate|ite|ide|ium|ether|azole|idine|aldehyde|nitrile|"
    r"oxide|azine|ose|cillin|statin|pril|sartan|lol|pam|ine|in|an|en|on|at|säure))", re.I)


def add_unknown_names(clauses):
    """What stands where a name is expected and is in no table is an unknown molecule, and no word that nothing has read."""
    for clause in clauses:
        for word in list(clause.unread):
            place = re.search(rf"{re.escape(word)}", clause.text)
            stands = place and re.search(NAME_BEFORE, clause.text[:place.start()], re.I)
            wanted = clause.asks or clause.operations or clause.amounts
            if stands and wanted and (CHEMICAL.fullmatch(word.split()[-1]) or near(word) or opsin(word)) or is_asked_alone(clause, word, wanted):
                clause.unread.remove(word)
                clause.molecules = distinct([*clause.molecules, resolve(word)])
                clause.inherits = False


def is_asked_alone(clause, word, wanted):
    """Whether a word is all that is left of a part which asks for something, of nothing else."""
    stands = rf"\b(?:of|for|from|in|is|does|has|von|für|hat)\s+(?:the |an? )?[\"'`“„]?{re.escape(word)}"
    return bool(wanted) and not clause.molecules and len(clause.unread) == 1 and bool(re.search(stands, clause.text, re.I))


def distinct(molecules):
    found = []
    for molecule in molecules:
        if all(other.written != molecule.written for other in found):
            found.append(molecule)
    return found


def inherit(clauses, before):
    """A part that names no molecule is about those of the part before; one that asks for nothing asks for the same."""
    molecules, asks, last = before, [], None
    for clause in clauses:
        if last is not None and last.amounts and not clause.amounts and clause.unit and clause.unit[0] in ("mass", "amount") and not clause.molecules and not last.asks:
            clause.amounts, clause.molecules, clause.inherits = last.amounts, list(last.molecules), False  # "I have 25 mg of caffeine. How many mmol is that?"
            last.amounts, last.molecules, last.operations = [], [], []
        if last is not None and clause.unit and clause.unit[0] == "molar mass" and not (clause.asks or clause.molecules or clause.amounts):
            last.unit, clause.unit = clause.unit, None  # "What is its weight? In kg/mol, please."
        last = clause
        substance = clause.unit and clause.unit[0] in ("mass", "amount") or any(kind in ("mass", "amount") for _, kind, _ in clause.amounts)
        wants = clause.asks or clause.operations or clause.cannot or substance
        if not clause.molecules and wants and clause.inherits:
            clause.molecules = list(molecules)
        elif clause.molecules and re.search(r"\b(?:it|its|they|their|them|each)\b", clause.text, re.I) and molecules and clause.operations and not clause.asks and len(clause.molecules) == 1:
            clause.molecules = distinct([*molecules, *clause.molecules])
        if clause.molecules and not wants and not clause.amounts and not clause.unit and asks:
            clause.asks = list(asks)
        named = re.search(r"heav|light|lipophil|hydrophob|\bpolar\b|schwer|leicht", clause.text, re.I)
        if not clause.asks and asks and clause.operations and set(clause.operations) <= {"contains"} | NUMERIC and not named:
            clause.asks = list(asks)  # "and tell me which has the highest"
        molecules = clause.molecules or molecules
        asks = [ask for ask in clause.asks if ask.kind != "valid"] or asks
    later = next((clause for clause in clauses if clause.molecules), None)
    if later is not None:  # "What is its weight? I mean CCO."
        for clause in clauses:
            if not clause.molecules and (clause.asks or clause.operations):
                clause.molecules = list(later.molecules)
