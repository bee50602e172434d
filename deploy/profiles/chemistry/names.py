"""What stands for a molecule in a sentence: a SMILES, a name of the table, a name that OPSIN reads, or a formula. Nothing else is taken for one."""

import csv
import difflib
import functools
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass, field

from .notation import DOUBTFUL, QUOTES, SIGNS, WORDS, bare, is_written_as_smiles, parse
from .vocabulary import ELEMENTS, GROUPS, NAMES, SYMBOLS

OPSIN = ("/usr/share/java/opsin.jar", "/usr/share/java/opsin-cli.jar")
ATOM = (
    r"(?:A[cglmrstu]|B[aeikr]?|C[adeflmorsu]?|D|Eu|F[er]?|G[ade]|H[efgo]?|I[nr]?|K[r]?|L[aiu]|M[gno]|N[abdei]?|O[s]?|P[bdrt]?|R[behu]|S[bceimnr]?|"
    r"T[abehilm]|U|V|W|Xe|Yb?|Z[nr])")
FORMULA = re.compile(rf"(?:(?:{ATOM}\d*|\((?:{ATOM}\d*)+\)\d*)+)(?:[·•.*]\d*(?:{ATOM}\d*|\((?:{ATOM}\d*)+\)\d*)+)*(?:\d?[+-])?")
TAGGED = re.compile(r"<(IUPAC|SMILES|MOLFORMULA|NUMBER|NAME)>\s*([^<]*?)\s*</\1>", re.I)
# What makes another molecule of the name beside it.
OTHER_BEFORE = re.compile(
    r"(?:(?<![\w-])(?:[\w,'-]+ )?(?<![\w-])(?:salt|ester|ether|amide|anhydride|hydrates?|hydrochloride|dimer|trimer|polymer|derivative|analogue?|"
    r"conjugate (?:acid|base)|anion|cation|radical|ion|metabolite|monomer|zwitterion"
    r"|oxidation product|reduction product)s? (?:of|from) (?:the |an? )?)$", re.I)
OTHER_BEHIND = re.compile(
    r"\s+(?:(?:[\w-]+yl|(?:mono|di|tri|hemi|sesqui|tetra|penta|hexa|hepta|octa|nona|deca)?(?:sodium|potassium|lithium|calcium))\s+(?:ester|ether|ketone|amide|salt)|"
    r"(?:mono|di|tri|hemi|sesqui|tetra|penta|hexa|hepta|octa|nona|deca)?(?:hydrate|hydrochloride|hydrobromide)|HCl|HBr"
    r"|anion|cation|radical|dimer|trimer|polymer|oligomer|hydroxide|chloride|bromide|iodide|sulfate|nitrate|acetate|oxide|salt|dianion|"
    r"zwitterion)s?\b", re.I)
SUBSTITUENT = re.compile(
    r"(?:[\d,'-]*(?:mono|di|tri|tetra|bis|tert-|iso|sec-|n-|cyclo)*(?:methyl|ethyl|propyl|butyl|pentyl|hexyl|phenyl|benzyl|"
    r"vinyl|allyl|acetyl|chloro|bromo|fluoro|iodo|nitro|amino|hydroxy|methoxy|cyano|oxo)+|(?:sodium|potassium|lithium|calcium|magnesium|"
    r"ammonium|barium|strontium|zinc|lead|aluminium|aluminum|iron|copper|"
    r"nickel|cobalt|silver|mercury|tin|chromium|manganese|cadmium|caesium|cesium)(?:\s?\([IV]+\))?|(?:"
    r"ortho|meta|para|cis|trans|alpha|beta|deuterated|protonated|deprotonated|radical|poly|zwitterionic))[ -]$", re.I)
HARMLESS = re.compile(r"(?:anhydrous|pure|liquid|neutral|solid|gaseous|neat|dry)\s+$", re.I)
# Names of several molecules: who writes one is asked which of them is meant.
AMBIGUOUS = {
    "xylene": ["o-xylene", "m-xylene", "p-xylene"],
    "xylol": ["o-xylene", "m-xylene", "p-xylene"],
    "cresol": ["o-cresol", "m-cresol", "p-cresol"],
    "propanol": ["1-propanol", "2-propanol"],
    "butanol": ["1-butanol", "2-butanol", "isobutanol", "tert-butanol"],
    "pentanol": ["1-pentanol"],
    "hexanol": ["1-hexanol"],
    "butene": ["1-butene", "cis-2-butene", "trans-2-butene", "isobutene"],
    "butylene": ["1-butene", "cis-2-butene", "trans-2-butene", "isobutene"],
    "pentene": ["1-pentene"],
    "hexene": ["1-hexene"],
    "butyne": ["1-butyne", "2-butyne"],
    "naphthol": ["1-naphthol", "2-naphthol"],
    "nitrophenol": ["4-nitrophenol"],
    "nitroaniline": ["4-nitroaniline"],
    "dichlorobenzene": ["1,2-dichlorobenzene", "1,4-dichlorobenzene"],
    "bromobutane": ["1-bromobutane", "2-bromobutane"],
    "pentanone": ["2-pentanone", "3-pentanone"],
    "dichloroethane": ["1,2-dichloroethane"],
    "propanediol": ["propylene glycol", "1,3-propanediol"],
    "sugar": ["sucrose", "glucose", "fructose"],
    "zucker": ["sucrose", "glucose", "fructose"],
    "alcohol": ["ethanol", "methanol", "2-propanol"],
    "toluenesulfonic acid": ["p-toluenesulfonic acid"],
    "dimethylbenzene": ["o-xylene", "m-xylene", "p-xylene"],
    "penicillin": ["penicillin G"],
    "vitamin b": ["riboflavin", "niacin", "pyridoxine"],
    "salt": ["sodium chloride"],
}


@dataclass
class Molecule:
    """A molecule as somebody has written it. Without a SMILES it is not known which one it is, and `choices` are those that may be meant."""

    written: str
    smiles: str | None = None
    how: str = "smiles"  # smiles, name, opsin, formula, unknown
    name: str | None = None
    formula: str | None = None
    choices: list = field(default_factory=list)
    why: str = ""


@functools.cache
def table():
    """Each name in small letters, with the name as it is written, the first name of its molecule, and the SMILES."""
    with open(pathlib.Path(__file__).with_name("names.csv"), encoding="utf-8", newline="") as file:
        found = {}
        for row in csv.DictReader(file):
            written = row["names"].split(";")
            for name in written:
                found.setdefault(fold(name), (name, written[0], row["smiles"]))
        return found


def fold(name):
    name = name.lower().replace("’", "'").replace("′", "'").replace("–", "-").replace("‐", "-")
    return " ".join(name.split())


@functools.cache
def by_structure():
    """The first name of each molecule of the table, by its canonical SMILES."""
    from rdkit import Chem
    found = {}
    for _, first, smiles in table().values():
        found.setdefault(Chem.MolToSmiles(parse(smiles)[0]), first)
    return found


def name_of(smiles):
    """The first name of a molecule in the table; of one whose stereochemistry no row has, the name that leaves it open."""
    from rdkit import Chem
    molecule, _ = parse(smiles)
    if molecule is None:
        return None
    return by_structure().get(Chem.MolToSmiles(molecule)) or by_structure().get(Chem.MolToSmiles(molecule, isomericSmiles=False))


@functools.cache
def opsin(name):
    """The SMILES of a systematic name, where OPSIN is installed; None where it is not, or reads none."""
    jar = next((path for path in OPSIN if os.path.exists(path)), None)
    if jar is None or len(name) > 200 or not re.search("[A-Za-z]{3}", name) or name.startswith("-"):
        return None
    try:
        done = subprocess.run(["java", "-Xmx256m", "-jar", jar, "-osmi"], input=name + "\n", capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    smiles = done.stdout.strip().splitlines()[-1:] or [""]
    return smiles[0] if smiles[0] and parse(smiles[0])[0] is not None else None


def counted(formula):
    """How many atoms of each element a formula has, and its charge; None when it is none."""
    body, charge = formula, 0
    ion = re.search(r"(\d*)([+-])$", formula)
    if ion:  # of SO42- the last digit is the charge, of NO3- none is, and of Ca2+ it is
        alone = len(re.findall(ATOM, formula)) == 1
        digits = ion[1][-1] if ion[1] and (alone or len(ion[1]) > 1) else ""
        body, charge = formula[:-1 - len(digits)], int(digits or 1) * (1 if ion[2] == "+" else -1)
    counts = {}
    if re.search("[·•.*]", body):  # a hydrate
        for part in re.split("[·•.*]", body):
            times = re.match(r"\d*", part)[0]
            for symbol, many in counted(part[len(times):])[0].items():
                counts[symbol] = counts.get(symbol, 0) + many * int(times or 1)
        return counts, charge
    for group, inner, times in re.findall(rf"({ATOM}\d*)|\(((?:{ATOM}\d*)+)\)(\d*)", body):
        for symbol, many in re.findall(rf"({ATOM})(\d*)", group or inner):
            counts[symbol] = counts.get(symbol, 0) + int(many or 1) * int(times or 1)
    return counts, charge


def hill(counts, charge=0):
    """A formula as RDKit writes it: carbon, hydrogen, then by letters."""
    order = [s for s in ("C", "H") if s in counts and "C" in counts] + sorted(s for s in counts if "C" not in counts or s not in ("C", "H"))
    if "C" not in counts and "H" in counts:
        order = ["H", *[s for s in order if s != "H"]]
    sign = "" if not charge else ("+" if charge > 0 else "-") + (str(abs(charge)) if abs(charge) > 1 else "")
    return "".join(symbol + (str(counts[symbol]) if counts[symbol] > 1 else "") for symbol in order) + sign


FRAGMENTS = {"OH", "NH2", "NH", "CH3", "CH2", "CHO", "COOH", "SH", "B12", "B6", "B2", "B3", "D3", "K2", "F1"}  # groups and numbers of vitamins


def is_formula(token):
    """Whether a token is written as a formula: with a number, or with an element of two letters among several. Capitals alone are words, such as PSO."""
    if not FORMULA.fullmatch(token) or token in WORDS or token in FRAGMENTS or re.fullmatch(r"[SDT]\d", token):
        return False
    return bool(re.search(r"\d", token) and len(token) > 1 or re.search("[a-z]", token) and len(re.findall(ATOM, token)) > 1)


def of_formula(token):
    counts, charge = counted(token)
    written = hill(counts, charge)
    from rdkit.Chem.rdMolDescriptors import CalcMolFormula
    fitting = list(dict.fromkeys(first for _, first, smiles in table().values() if CalcMolFormula(parse(smiles)[0]) == written))
    return Molecule(token, None, "formula", formula=written, choices=fitting[:6])


def resolve(written):
    """The molecule that a name, a SMILES or a formula stands for, when it is said to be one."""
    written = bare(written.strip())
    known = table().get(fold(written))
    if known:
        return Molecule(written, known[2], "name", known[1])
    if is_written_as_smiles(written) or parse_quietly(written):
        return Molecule(written, written, "smiles")
    if is_formula(written):
        return of_formula(written)
    if written in SYMBOLS or fold(written) in ELEMENTS:
        return of_formula(written if written in SYMBOLS else ELEMENTS[fold(written)])
    if fold(written) in AMBIGUOUS:
        return Molecule(written, None, "unknown", choices=AMBIGUOUS[fold(written)])
    smiles = opsin(written)
    if smiles:
        return Molecule(written, smiles, "opsin", written)
    return Molecule(written, None, "unknown", choices=near(written))


def parse_quietly(token):
    return bool(re.fullmatch(r"(?:\[[^\[\]\s]*\]|Br|Cl|[BCNOPSFIbcnops]|[-=#$:/\\.()%@\d])+", token)) and len(token) <= 400 and parse(token)[0] is not None


def near(written):
    """Known names that are written alike. They are other molecules until somebody says that they are not."""
    names, folded = table(), fold(written)
    if folded.startswith("poly"):
        return []  # no polymer is one of its monomers
    alike = difflib.get_close_matches(folded, names, 3, 0.8) if len(written) <= 60 else []
    ratio = {name: difflib.SequenceMatcher(None, folded, name).ratio() for name in alike}
    return list(dict.fromkeys(names[name][1] for name in alike if ratio[name] > max(ratio.values()) - 0.08))


WORD = re.compile(r"[^\s,;:!?/]+(?:,(?=[\dNO])[^\s,;:!?/]+)*")
ELEMENT_BEHIND = re.compile(r"[- ]?(?:atoms?|atome?n?|bond\w*|bonds?|count|content|percent\w*|isotop\w*|and \w+ atoms|, \w+ and \w+ atoms)\b", re.I)
ELEMENT_LIST = re.compile(rf"\b(?:{NAMES})(?:[- ]atoms?)?(?:,|\s+and|\s+or|\s+und|\s+oder)\s+(?:from )?$", re.I)
MASS_OF = re.compile(r"\b(?:grams?|gramm|mass|weight|mg|g|masse) (?:of|von)\s+$", re.I)
FRACTION = re.compile(r"\b(?:fraction|per ?cent\w*|share|proportion|anteil|prozent|elements?)\b[^.?!]*$", re.I)
ELEMENT_BEFORE = re.compile(
    r"(?:how many|number of|wie ?viele?|per ?cent(?:age)?(?: by (?:mass|weight))?(?: of| is| von)?|% ?|how much|fraction of|"
    r"any|contain|contains|of each|only)\s+$", re.I)
BONDS = {"C=C", "C=O", "C#C", "C=N", "C#N", "C-C", "C-H", "O-H", "N-H", "N=N", "S=O", "P=O"}
GROUP_BEHIND = re.compile(r"[- ](?:groups?|(?:double |triple |single )?bonds?|functions?|functional|moiet\w+|substituents?|rings?)\b", re.I)


def find_names(text):
    """The spans of names of the table, longest first, none inside of another."""
    names, spans, words = table(), [], list(WORD.finditer(text))
    longest = max(len(name.split()) for name in names)
    groups = {name for name, _, _ in GROUPS}
    at = 0
    while at < len(words):
        for many in range(min(longest, len(words) - at), 0, -1):
            start, end = words[at].start(), words[at + many - 1].end()
            written = text[start:end]
            stripped = written.strip(QUOTES).rstrip(".").strip(QUOTES)
            stripped = stripped.strip("()") if stripped.count("(") != stripped.count(")") or stripped.startswith("(") and stripped.endswith(")") else stripped
            possessive = re.sub(r"['’]s?$", "", stripped)
            chosen = next((one for one in (written, stripped, possessive) if fold(one) in names and is_meant(one, names)), None)
            if chosen is None:
                continue
            start += written.find(chosen)
            end = start + len(chosen)
            folded = fold(chosen)
            if folded in ELEMENTS and (ELEMENT_LIST.search(text[:start]) or MASS_OF.search(text[:start]) and re.match(r"[^.?!]{0,30}\b(?:in|from)\b", text[end:])):
                break
            if folded in ELEMENTS and (ELEMENT_BEHIND.match(text[end:]) or ELEMENT_BEFORE.search(text[:start]) or FRACTION.search(text[:start])):
                break
            if folded == "benzene" and re.match(r"\s+rings?\b", text[end:]):
                break
            if folded in groups and (GROUP_BEHIND.match(text[end:]) or re.search(r"\b(?:an?|any)\s+$", text[:start])):
                break
            spans.append((start, end))
            at += many - 1
            break
        at += 1
    return spans


def is_meant(written, names):
    """A short name in capitals, such as TNT or GABA, is one only as it is written in the table, so that "dome" is not DME and "ass" is no drug."""
    name = names[fold(written)][0]
    return written == name or not (name.isupper() and len(name) <= 5)


def find_molecules(text):
    """What stands for a molecule, in its order: (start, end, Molecule)."""
    found, doubtful = [(m.start(), m.end(), resolve_tagged(m)) for m in TAGGED.finditer(text)], []

    def free(start, end):
        return all(end <= s or start >= e for s, e, _ in found)

    names = find_names(text)
    marked = {bare(m[1]) for m in re.finditer(r"\bSMILES(?:\s+(?:string|code|notation))?\s*(?:(?:is|of)\s+)?[:=]?\s*(\S+)", text)} | {m[1] for m in re.finditer(r"`([^`\s]+)`", text)}
    said = {bare(m[1]) for m in re.finditer(r"\bsmiles\b\s*(?:is\s*)?[:=]\s*(\S+)", text, re.I)}
    for match in re.finditer(r"\S+", text):
        for token, start in pieces(match[0], match.start()):
            end = start + len(token)
            if not token or not free(start, end) or any(s <= start and end <= e for s, e in names):
                continue
            if token in DOUBTFUL and DOUBTFUL[token] and token not in marked:
                if in_list_or_asked(text, start, end):
                    doubtful.append((start, end, token))
            elif GROUP_BEHIND.match(text[end:]) and not SIGNS.search(token):
                continue  # an OH group
            elif re.search(r"\bvitamin\s+$", text[:start], re.I) or token in BONDS and GROUP_BEHIND.match(text[end:]):
                continue
            elif is_formula(token) and fold(token) not in table() and (token[-1] in "+-" or re.fullmatch(r"[A-Z][a-z]?\d{2,}", token)):
                found.append((start, end, of_formula(token)))
            elif is_written_as_smiles(token) or token in said or token in marked and parse_quietly(token):
                found.append((start, end, Molecule(token, token, "smiles")))
            elif is_formula(token) and fold(token) not in table():
                found.append((start, end, of_formula(token)))
    beside = any(molecule.how == "smiles" for _, _, molecule in found)  # in a list of SMILES it is one
    for start, end, token in doubtful:
        found.append((start, end, Molecule(token, token, "smiles") if beside else Molecule(token, None, "unknown", choices=DOUBTFUL[token].split(" or "))))
    for start, end in names:
        if free(start, end):
            found.append(named(text, start, end))
    for match in re.finditer(rf"(?<![\w-])(?:{'|'.join(sorted(AMBIGUOUS, key=len, reverse=True))})(?![\w-])", text, re.I):
        if free(match.start(), match.end()) and not GROUP_BEHIND.match(text[match.end():]) and not re.search(r"\b(?:an?|any|the)\s+$", text[:match.start()], re.I):
            found.append((match.start(), match.end(), Molecule(match[0], None, "unknown", choices=AMBIGUOUS[fold(match[0])])))
    return sorted(found, key=lambda one: one[0])


def pieces(token, start):
    """A token and, where it is a list without blanks such as "CCO,CCN", its parts."""
    core = bare(token)
    at = start + token.find(core) if core else start
    if "," in core or ";" in core:
        parts, offset = [], at
        for part in re.split(r"([,;])", core):
            parts.append((part, offset))
            offset += len(part)
        parts = [(part, offset) for part, offset in parts if part not in ",;"]
        if all(is_written_as_smiles(part) or is_formula(part) for part, _ in parts):
            return parts
    return [(core, at)]


def in_list_or_asked(text, start, end):
    """Whether two letters stand where a molecule does, so that the word "no" in capitals is none."""
    return bool(re.search(r"(?:\b(?:of|for|in|does|is|and|or|between|vs\.?|with|SMILES|weighs?)|[,:=])\s*[\"'`(]?$", text[:start])) and not re.match(r"\s+(?:ONE|WAY|MORE|LESS)\b", text[end:])


def resolve_tagged(match):
    kind, written = match[1].upper(), match[2]
    if kind == "SMILES":
        return Molecule(written, written, "smiles")
    if kind == "MOLFORMULA" and is_formula(written):
        return of_formula(written)
    return resolve(written)


def named(text, start, end):
    """A name of the table; or what it is part of, when a word beside it makes another molecule of it."""
    before, behind = OTHER_BEFORE.search(text[:start]), OTHER_BEHIND.match(text[end:])
    part = SUBSTITUENT.search(text[:start])
    if before or behind or part:
        begin = start - len((before or part)[0]) if before or part else start
        finish = end + (behind.end() if behind else 0)
        written = text[begin:finish].strip()
        made = derived(written, text[start:end])
        return begin, finish, made or resolve_whole(written)
    harmless = HARMLESS.search(text[:start])
    known = table()[fold(text[start:end])]
    return (harmless.start() if harmless else start), end, Molecule(text[start:end], known[2], "name", known[1])


def resolve_whole(written):
    known = table().get(fold(written))
    if known:
        return Molecule(written, known[2], "name", known[1])
    smiles = opsin(written)
    return Molecule(written, smiles, "opsin", written) if smiles else Molecule(written, None, "unknown", choices=near(written))


def derived(written, name):
    """A salt, a hydrate or a zwitterion of a molecule of the table, where there is one way of making it."""
    from rdkit import Chem
    base = table()[fold(name)][2]
    said = fold(written)
    many = {"mono": 1, "di": 2, "tri": 3, "tetra": 4, "penta": 5, "hexa": 6, "hepta": 7, "octa": 8, "nona": 9, "deca": 10}
    added = re.search(r"(mono|di|tri|hemi|sesqui|tetra|penta|hexa|hepta|octa|nona|deca)?(hydrate|hydrochloride|hydrobromide|(?<= )hcl|(?<= )hbr)\b", said)
    if added and re.match(r"hemi|sesqui", added[1] or ""):
        return None  # a SMILES has whole molecules
    if added and (added[2] == "hydrate" or re.search("[Nn]", base)):
        part = {"hydrate": "O", "hydrochloride": "Cl", "hcl": "Cl"}.get(added[2], "Br")
        return Molecule(written, ".".join([base] + [part] * many[added[1] or "mono"]), "name", written)
    metal = re.search(r"\b(sodium|potassium|lithium)\b", said)
    acid = Chem.MolFromSmarts("[CX3](=O)[OX2H1]")
    molecule = parse(base)[0]
    sites = molecule.GetSubstructMatches(acid)
    if metal and "salt" in said and len(sites) == 1:
        writable = Chem.RWMol(molecule)
        writable.GetAtomWithIdx(sites[0][2]).SetFormalCharge(-1)
        writable.GetAtomWithIdx(sites[0][2]).SetNumExplicitHs(0)
        Chem.SanitizeMol(writable)
        symbol = {"sodium": "Na", "potassium": "K", "lithium": "Li"}[metal[1]]
        return Molecule(written, f"[{symbol}+].{Chem.MolToSmiles(writable)}", "name", written)
    amine = molecule.GetSubstructMatches(Chem.MolFromSmarts("[NX3;H2,H1;!$(NC=O)]"))
    if "zwitterion" in said and len(sites) == 1 and len(amine) == 1:
        writable = Chem.RWMol(molecule)
        writable.GetAtomWithIdx(sites[0][2]).SetFormalCharge(-1)
        nitrogen = writable.GetAtomWithIdx(amine[0][0])
        nitrogen.SetFormalCharge(1)
        nitrogen.SetNumExplicitHs(nitrogen.GetTotalNumHs() + 1)
        nitrogen.SetNoImplicit(True)
        Chem.SanitizeMol(writable)
        return Molecule(written, Chem.MolToSmiles(writable), "name", written)
    return None
