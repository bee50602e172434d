"""Answers a reading in sentences. What cannot be answered is named, never left out."""

import itertools
import re
from dataclasses import dataclass, field

from . import facts, units
from .names import name_of
from .notation import parse

CAN = ("What can be given is the formula, weight, exact mass, composition, logP (Crippen), polar surface, hydrogen bonds, charge, counts of atoms, rings, bonds, stereocentres and functional groups, "
       "the SMILES and the name, and whether a SMILES is valid.")
BY_FORMULA = {"weight", "exact", "element", "percent", "composition", "unsaturation", "atoms", "molecules", "has element", "charge"}  # what a formula alone says


@dataclass
class Reply:
    lines: list = field(default_factory=list)
    missing: list = field(default_factory=list)  # what is not answered, as sentences
    question: str = ""  # what the person is asked first
    read: list = field(default_factory=list)  # what was read for each name
    made: list = field(default_factory=list)  # the molecules that were looked at, as data

    @property
    def status(self):
        """How it ends; what is asked comes before an answer."""
        return "asked" if self.question else "completed" if self.lines and not self.missing else "partial" if self.lines else "failed"

    def text(self):
        return "\n".join(dict.fromkeys([*self.lines, *self.missing, *self.read]))


def reply_to(reading):
    reply = Reply()
    if any("plan" in clause.social for clause in reading.clauses):
        reply.lines.append("\n".join(["The plan, of which nothing was done:", *(f"{number}. {step}" for number, step in enumerate(plan_of(reading), 1))]))
        return reply
    asked = [clause for clause in reading.clauses if clause.asks or clause.operations or clause.cannot or clause.amounts or clause.molecules]
    for clause in reading.clauses:
        if clause.social and not asked:
            reply.lines += [SOCIAL[kind] for kind in dict.fromkeys(clause.social) if kind in SOCIAL]
    for clause in asked:
        answer_clause(clause, reply)
    for word in dict.fromkeys(reading.unread):
        reply.missing.append(f"Not understood: {word}.")
    if not reply.lines and not reply.missing and not reply.question:
        reply.missing.append(f"There is no question about a molecule that is understood here. {CAN}")
    return reply


def plan_of(reading):
    """What would be done, as steps."""
    molecules = list(dict.fromkeys(molecule.written for molecule in reading.molecules))
    steps = [f"Read {choices(molecules).replace(' or ', ' and ')} as a structure, and validate it."] if molecules else []
    for ask in (ask for clause in reading.clauses for ask in clause.asks):
        steps.append(f"Say the {name_of_number(ask)[0] if is_number(ask) else ask.kind}.")
    return [*dict.fromkeys(steps), "Return the answer."]


SOCIAL = {
    "greeting": "Hello. Ask about a molecule, by its name or its SMILES.", "thanks": "You are welcome.", "bye": "Goodbye.",
    "who": f"This is a program that answers questions about molecules by RDKit, without a language model. {CAN}",
}


def answer_clause(clause, reply):
    if answer_conversion(clause, reply):
        return
    formulas = only_masses(clause) or len(clause.molecules) == 2 and not clause.asks
    for molecule in clause.molecules:
        if molecule.how == "unknown" or molecule.how == "formula" and not formulas:
            doubt(molecule, reply)
    usable = [molecule for molecule in clause.molecules if molecule.how == "formula" and formulas or molecule.smiles and (parse(molecule.smiles)[0] or wants(clause, "valid"))]
    for molecule in clause.molecules:
        if molecule.smiles and parse(molecule.smiles)[0] is None and not wants(clause, "valid"):
            reply.missing.append(f"{molecule.written} is no valid SMILES. RDKit says: {parse(molecule.smiles)[1]}")
    if clause.cannot:
        about = f" of {' and '.join(molecule.written for molecule in clause.molecules)}" if clause.molecules else ""
        reply.missing.append(f"This cannot be given{about} here: {', '.join(dict.fromkeys(clause.cannot))}.")
    if not clause.molecules and re.match(r"\W*(?:what|was) (?:is|are|ist|sind|does) (?:an? |ein\w* )?(?!the |its? |their )[\w -]+?(?: mean)?\W*$", clause.text, re.I) and not clause.amounts:
        reply.missing.append(f"Definitions are not given here. {CAN}")
        return
    if not clause.molecules and (clause.asks or clause.operations and not clause.cannot):
        reply.question = reply.question or "Which molecule? Please give its name or its SMILES, such as CCO."
        return
    if usable:
        answer_about(clause, usable, reply)


def wants(clause, kind):
    return any(ask.kind == kind for ask in clause.asks)


def only_masses(clause):
    return bool(clause.asks or clause.amounts) and all(ask.kind in BY_FORMULA for ask in clause.asks)


def doubt(molecule, reply):
    """A molecule that is not known: it is asked about where something may be meant, and refused else."""
    if molecule.how == "formula":
        listed = f" Is it {choices(molecule.choices)}?" if molecule.choices else ""
        reply.question = reply.question or f"{molecule.written} is a formula, and several molecules have it.{listed} Please answer with the name or the SMILES."
    elif molecule.choices:
        reply.question = reply.question or f"“{molecule.written}” is not one known molecule. Is {choices(molecule.choices)} meant? Please answer with the name or the SMILES of the molecule."
    else:
        reply.missing.append(f"“{molecule.written}” is not in the table of names. Its SMILES is understood.")


def choices(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def answer_about(clause, molecules, reply):
    asks, several = list(clause.asks), len(molecules) > 1
    for molecule in molecules:
        if molecule.smiles and parse(molecule.smiles)[0] and all(one["written"] != molecule.written for one in reply.made):
            note_reading(molecule, reply)
            reply.made.append({"written": molecule.written, "name": molecule.name, **facts.properties(molecule.smiles)})
    done = [step(clause, molecules, asks, reply) for step in (amounts, sameness, contained)]
    if any(done):
        asks = [ask for ask in asks if ask.kind not in ("group", "has element", "molecules") and not (done[0] and ask.kind in ("weight", "element", "atoms", "percent"))]
        if not asks:
            return
    if clause.has("draw"):
        reply.missing.append("A drawing cannot be given here.")
        asks = [ask for ask in asks if ask.kind != "smiles"]
    if not asks and not any(done) and not clause.has("draw") and not clause.cannot:
        asks = default_asks(clause)
        if not asks and not clause.unread:
            reply.missing.append(f"What is asked of {' and '.join(molecule.written for molecule in molecules)} was not understood.")
    numeric = [ask for ask in asks if is_number(ask)]
    if several and numeric:
        compare(clause, molecules, numeric, reply)
        asks = [ask for ask in asks if not is_number(ask)]
    elements = [ask for ask in asks if ask.kind == "element"]
    for ask in asks:
        for molecule in molecules:
            sentence(ask, molecule, clause, reply)
        if several and ask.kind in ("formula", "empirical") and clause.has("same property"):
            formulas = {(facts.empirical if ask.kind == "empirical" else facts.formula_of)(molecule.smiles) if molecule.smiles else molecule.formula for molecule in molecules}
            reply.lines.append("Yes: the formula is the same." if len(formulas) == 1 else "No: the formula is not the same.")
    if clause.has("ratio") and len(elements) == 2 and not several:
        counts = [value(ask, molecules[0]) for ask in elements]
        reply.lines.append(f"The ratio of {facts.element_name(elements[0].element)} to {facts.element_name(elements[1].element)} is {counts[0]} : {counts[1]}.")


def default_asks(clause):
    """What is meant where no property is named: the weight by "heavier", and an overview where nothing but a molecule is there."""
    from .reading import Ask
    wanted = next((ASKED_BY[word] for word in ASKED_BY if re.search(word, clause.text, re.I)), None)
    if wanted:
        return [Ask(wanted)]
    return [Ask("properties")] if not clause.unread and set(clause.operations) <= {"compare", "convert", "contains"} else []


ASKED_BY = {r"heav|light|schwer|leicht": "weight", r"lipophil|hydrophob": "logp", r"\bpolar\b": "tpsa"}


def is_number(ask):
    return ask.kind in facts.NUMBERS or ask.kind in ("element", "percent", "group")


def note_reading(molecule, reply):
    """What was read for a name, once in an answer."""
    if molecule.smiles and molecule.how in ("name", "opsin"):
        reply.read.append(f"{molecule.written} = {molecule.smiles}, {facts.formula_of(molecule.smiles)}")


def value(ask, molecule):
    if molecule.how == "formula":
        return facts.formula_number(ask.kind, molecule.written, ask.element)
    return facts.number(ask.kind, molecule.smiles, ask)


def name_of_number(ask):
    if ask.kind == "element":
        return f"number of {facts.element_name(ask.element)} atoms", ""
    if ask.kind == "percent":
        return f"mass fraction of {facts.element_name(ask.element)}", "%"
    if ask.kind == "group":
        return f"number of {ask.group[0]} groups", ""
    return facts.NUMBERS[ask.kind]


def with_unit(ask, number, clause):
    """A number in the unit that is asked for, or in its own."""
    unit = name_of_number(ask)[1]
    if ask.kind in ("weight", "exact") and clause.unit and clause.unit[0] == "molar mass" and clause.unit[1] not in ("g/mol", "u"):
        return f"{units.written(units.convert('molar mass', number, 'g/mol', clause.unit[1]), 7)} {clause.unit[1]}"
    if ask.kind == "charge":
        return f"{number:+d}" if number else "0"
    return f"{number} {unit}".strip()


def sentence(ask, molecule, clause, reply):
    """What is told of one thing that is asked of one molecule."""
    if ask.kind == "valid":
        tell_validity(molecule, reply)
    elif molecule.smiles is not None and parse(molecule.smiles)[0] is None:
        return
    elif is_number(ask):
        reply.lines.append(f"The {name_of_number(ask)[0]} of {molecule.written} is {with_unit(ask, value(ask, molecule), clause)}.")
        compare_with_limit(clause, ask, molecule, reply)
    elif molecule.how == "formula" and ask.kind not in ("formula", "composition", "empirical"):
        doubt(molecule, reply)
    else:
        made = SENTENCES[ask.kind](molecule, clause)
        if made is None:
            reply.missing.append("InChI cannot be given here: this RDKit is built without it." if ask.kind in ("inchi", "inchikey") else f"No name of {molecule.written} is in the table.")
        else:
            reply.lines.append(made)


def tell_validity(molecule, reply):
    if molecule.how in ("name", "opsin"):
        reply.lines.append(f"The SMILES of {molecule.written}, {molecule.smiles}, is valid.")
        return
    made, why = parse(molecule.smiles)
    if made is not None:
        reply.lines.append(f"{molecule.written} is a valid SMILES: {facts.formula_of(molecule.smiles)}.")
        return
    reply.lines.append(f"{molecule.written} is no valid SMILES. RDKit says: {why}")
    from .mend import perhaps, sure
    mended = sure(molecule.smiles)
    if mended:
        reply.lines.append(f"It can be read as {mended[0]}: {mended[1]}.")
    elif perhaps(molecule.smiles):
        reply.lines.append(f"Perhaps {perhaps(molecule.smiles)} is meant.")


CAVEAT = "by the table of names; whether that is its name by the rules of IUPAC is not known here"


def tell_name(molecule, clause):
    known = name_of(molecule.smiles)
    if molecule.how in ("name", "opsin"):
        return f"{molecule.written} is {known or molecule.name} {CAVEAT}."
    caveat = f", {CAVEAT}" if re.search(r"iupac|systemat", clause.text, re.I) else ""
    return f"{molecule.written} is {known}{caveat}." if known else None


def tell_chirality(molecule, _):
    chiral, forms = facts.chirality(molecule.smiles)
    if chiral is None and forms >= facts.MOST_ISOMERS:
        return f"Whether {molecule.written} is chiral is not told: it has {facts.MOST_ISOMERS} stereoisomers or more."
    if chiral is None:
        return f"Some of the {forms} stereoisomers of {molecule.written} are chiral, and {molecule.written} does not say which one is meant."
    open_ones = facts.number("undefined stereo", molecule.smiles)
    note = f"; {facts.plural(open_ones, 'stereocentre')} of it {'is' if open_ones == 1 else 'are'} not defined" if chiral and open_ones else ""
    return f"{molecule.written} is {'chiral' if chiral else 'not chiral'} by its stereocentres{note}."


def tell_lipinski(molecule, _):
    values, broken = facts.lipinski(molecule.smiles)
    said = f"weight {values['weight']} g/mol, logP {values['logp']}, {values['donors']} donors, {values['acceptors']} acceptors"
    return f"{molecule.written} {'keeps' if not broken else 'breaks'} Lipinski's rule of five ({said}{'; over the limit: ' + ', '.join(broken) if broken else ''})."


def tell_composition(molecule, _):
    parts = facts.composition(molecule.smiles) if molecule.smiles else [
        (symbol, round(100 * many * facts.weight_of_element(symbol) / facts.formula_weight(molecule.written), 2)) for symbol, many in facts.counted(molecule.written)[0].items()]
    return f"{molecule.written} is by mass {', '.join(f'{symbol} {percent} %' for symbol, percent in parts)}."


def tell_groups(molecule, _):
    found = facts.groups_of(molecule.smiles)
    return f"{molecule.written} has {', '.join(facts.plural(many, name) for name, many in found)}." if found else f"{molecule.written} has no functional group that is known here."


def tell_properties(molecule, _):
    found = facts.properties(molecule.smiles)
    named = f"{molecule.written} ({found['formula']}, charge {signed(found['charge'])})"
    return (
        f"{named}: molecular weight {found['weight']} g/mol, logP {found['logp']} (Crippen), polar surface {found['tpsa']} Å², {facts.plural(found['donors'], 'donor')} and "
        f"{facts.plural(found['acceptors'], 'acceptor')} of hydrogen bonds, {facts.plural(found['rotors'], 'rotatable bond')}.")


def signed(charge):
    return f"{charge:+d}" if charge else "0"


def tell_element(molecule, ask):
    many = facts.element_counts(molecule.smiles).get(ask.element, 0) if molecule.smiles else value(ask, molecule)
    return f"{'Yes' if many else 'No'}: {molecule.written} has {many or 'no'} {facts.element_name(ask.element)} {'atom' if many == 1 else 'atoms'}."


SENTENCES = {
    "formula": lambda m, _: f"The molecular formula of {m.written} is {facts.formula_of(m.smiles) if m.smiles else m.formula}.",
    "stereoisomers": lambda m, _: f"The number of stereoisomers of {m.written} is {facts.stereoisomers(m.smiles)}.",
    "configuration": lambda m, _: f"The configuration of {m.written} is {facts.configuration(m.smiles)}.",
    "empirical": lambda m, _: f"The empirical formula of {m.written} is {facts.empirical(m.smiles)}.",
    "composition": tell_composition, "lipinski": tell_lipinski, "chiral": tell_chirality, "groups": tell_groups, "name": tell_name, "properties": tell_properties,
    "aromatic": lambda m, _: f"{m.written} is {'aromatic' if facts.number('aromatic atoms', m.smiles) else 'not aromatic'}.",
    "inchi": lambda m, _: facts.inchi(m.smiles) and f"The InChI of {m.written} is {facts.inchi(m.smiles)}.",
    "inchikey": lambda m, _: facts.inchikey(m.smiles) and f"The InChIKey of {m.written} is {facts.inchikey(m.smiles)}.",
    "canonical": lambda m, _: f"The canonical SMILES of {m.written} is {facts.canonical(m.smiles)}.", "scaffold": lambda m, _: f"The Murcko scaffold of {m.written} is {facts.scaffold(m.smiles)}.",
    "smiles": lambda m, _: f"The SMILES of {m.written} is {m.smiles}." if m.how != "smiles" else f"{m.written} is a SMILES already; RDKit writes it as {facts.canonical(m.smiles)}.",
}


def compare(clause, molecules, asks, reply):
    """Several molecules by numbers: a list, an order, a difference or a ratio, as it is asked."""
    for ask in asks:
        values = [(molecule, value(ask, molecule)) for molecule in molecules]
        name = name_of_number(ask)[0]
        said = {molecule.written: with_unit(ask, number, clause) for molecule, number in values}
        if clause.has("ascending") or clause.has("descending") or clause.has("greatest") and len(values) > 2 or clause.has("least") and len(values) > 2:
            order = sorted(values, key=lambda one: one[1], reverse=not (clause.has("ascending") or clause.has("least")))
            reply.lines.append(f"By {name}, the {'lowest' if clause.has('ascending') or clause.has('least') else 'highest'} first: {', '.join(f'{m.written} {said[m.written]}' for m, _ in order)}.")
        else:
            reply.lines += [f"The {name} of {molecule.written} is {said[molecule.written]}." for molecule, _ in values]
        reply.lines += derived(clause, ask, values, said)


def derived(clause, ask, values, said):
    """What follows from the numbers: who has most, the difference, the ratio, the sum."""
    name, unit = name_of_number(ask)
    lines, numbers = [], [number for _, number in values]
    digits = max((len(str(number).partition(".")[2]) for number in numbers), default=0)

    def written(number):
        return with_unit(ask, round(number, digits) if digits else round(number), clause) if ask.kind != "charge" else f"{number}"
    if clause.has("greatest") or clause.has("least") or clause.has("compare") and len(values) == 2 and not clause.has("difference"):
        for operation, choose, word in (("greatest", max, "highest"), ("least", min, "lowest")):
            if clause.has(operation) or operation == "greatest" and not clause.has("least"):
                best = choose(numbers)
                winners = [molecule.written for molecule, number in values if number == best]
                if len(winners) == len(values):
                    lines.append(f"The {name} is the same.")
                    continue
                word = word if len(values) > 2 else word.replace("est", "er")
                yes = "" if not re.match(r"\W*(?:is|are|does|do|has|have|ist|hat)\b", clause.text, re.I) else "Yes: " if winners == [values[0][0].written] else "No: "
                lines.append(f"{yes}{' and '.join(winners)} {'has' if len(winners) == 1 else 'have'} the {word} {name}, {said[winners[0]]}.")
    if clause.has("difference") or clause.has("compare") and len(values) == 2:
        for (first, a), (second, b) in itertools.combinations(values, 2):
            lines.append(f"The difference between {first.written} and {second.written} is {written(abs(a - b))}.")
    if clause.has("same property"):
        lines.append(f"Yes: the {name} is the same." if len(set(numbers)) == 1 else f"No: the {name} is not the same.")
    if clause.has("ratio"):
        for (first, a), (second, b) in itertools.combinations(values, 2):
            lines.append(f"The ratio of {first.written} to {second.written} is {a / b:.4g}." if b else f"There is no ratio: {second.written} has 0.")
    if clause.has("sum"):
        lines.append(f"The sum is {written(sum(numbers))}.")
    if clause.has("average"):
        lines.append(f"The average is {sum(numbers) / len(numbers):.{max(digits, 1)}f} {unit}".rstrip() + ".")
    return lines


CLAIM = re.compile(
    r"[\uE000-\uE0FF]\W{0,2}(?:\s*(?:is|are|ist|=|equals?)\s*)(?:the |an? |ein\w* )?[\uE000-\uE0FF]|\b(?:is|are|ist|sind)\s+[\uE000-\uE0FF]\s+(?:really |the |an? |ein\w* )?[\uE000-\uE0FF]", re.I)


def sameness(clause, molecules, asks, reply):
    """Whether molecules are the same, or isomers; and whether a formula is that of a molecule."""
    claimed = not asks and not clause.operations and len(molecules) == 2 and not (clause.cannot or clause.unread or clause.amounts) and bool(CLAIM.search(clause.text))
    if len(molecules) < 2 or not (clause.has("same") or clause.has("isomers") or claimed):
        return False
    if any(molecule.how == "formula" for molecule in molecules):
        formulas = [molecule.formula or facts.formula_of(molecule.smiles) for molecule in molecules]
        known = next((molecule for molecule in molecules if molecule.smiles), molecules[0])
        reply.lines.append(f"{'Yes' if formulas[0] == formulas[1] else 'No'}: the formula of {known.written} is {facts.formula_of(known.smiles) if known.smiles else known.formula}.")
        return True
    if clause.has("same") and any(is_number(ask) for ask in asks):
        return False  # the same weight
    for one, other in itertools.combinations(molecules, 2):
        if not (one.smiles and other.smiles):
            continue
        found = facts.same(one.smiles, other.smiles)
        names = f"{one.written} and {other.written}"
        reply.lines.append({
            "same": f"Yes: {names} are the same molecule, {facts.canonical(one.smiles)}.",
            "stereoisomers": f"{'Yes' if clause.has('isomers') else 'No'}: {names} are stereoisomers: the same atoms and bonds, in another arrangement in space.",
            "unspecified": f"{names} have the same atoms and bonds; the stereochemistry of one of them is not said.",
            "isomers": f"{'Yes' if clause.has('isomers') else 'No'}: {names} are isomers: both are {facts.formula_of(one.smiles)}, with other bonds.",
            "tautomers": f"{'Yes' if clause.has('isomers') else 'No'}: {names} are tautomers: both are {facts.formula_of(one.smiles)}, with a hydrogen in another place.",
            "different": f"No: {names} are different molecules, {facts.formula_of(one.smiles)} and {facts.formula_of(other.smiles)}.",
        }[found])
    return True


def contained(clause, molecules, asks, reply):
    """Whether molecules have an element or a group, or how often."""
    wanted = [ask for ask in asks if ask.kind in ("group", "has element")]
    if not wanted:
        return False
    for ask in wanted:
        many_asked = ask.kind == "group" and re.search(r"how many|number of|count|wie ?viel", ask.words + " " + clause.text, re.I)
        for molecule in molecules:
            if ask.kind == "has element":
                reply.lines.append(tell_element(molecule, ask))
                continue
            many = facts.number("group", molecule.smiles, ask)
            group = f"{ask.group[0]} {'group' if many == 1 else 'groups'}"
            reply.lines.append(f"{molecule.written} has {many or 'no'} {group}." if many_asked else f"{'Yes' if many else 'No'}: {molecule.written} has {many or 'no'} {group}.")
    return True


def amounts(clause, molecules, asks, reply):
    """Grams of an amount, moles of a mass, molecules of either."""
    given = [(number, kind, unit) for number, kind, unit in clause.amounts if kind in ("mass", "amount", "count")]
    if not given or not molecules:
        return False
    volume = next((units.convert("volume", number, unit, "L") for number, kind, unit in clause.amounts if kind == "volume"), None)
    paired = len(given) == len(molecules) > 1  # "2 mol of water or 1 mol of methane"
    for at, (number, kind, unit) in enumerate(given):
        for molecule in [molecules[at]] if paired else molecules:
            weight = facts.formula_weight(molecule.written) if molecule.how == "formula" else facts.number("weight", molecule.smiles)
            moles = number / units.AVOGADRO if kind == "count" else units.convert(kind, number, unit, "mol") if kind == "amount" else units.convert(kind, number, unit, "g") / weight
            said = f"{units.written(number)} {unit} of {molecule.written}"
            counted = any(ask.kind == "molecules" for ask in asks)
            if counted:
                reply.lines.append(f"{said} are {moles * units.AVOGADRO:.4e} molecules.")
            elif any(ask.kind == "element" for ask in asks) and clause.unit and clause.unit[0] == "mass":
                ask = next(ask for ask in asks if ask.kind == "element")
                grams = moles * value(ask, molecule) * facts.weight_of_element(ask.element)
                reply.lines.append(f"{said} have {units.written(units.convert('mass', grams, 'g', clause.unit[1]))} {clause.unit[1]} of {facts.element_name(ask.element)}.")
            elif any(ask.kind in ("element", "atoms") for ask in asks):
                ask = next(ask for ask in asks if ask.kind in ("element", "atoms"))
                reply.lines.append(f"{said} have {moles * units.AVOGADRO * value(ask, molecule):.4e} {facts.element_name(ask.element) + ' ' if ask.element else ''}atoms.")
            elif volume:
                reply.lines.append(f"{said} in {units.written(volume)} L are {units.written(moles / volume, 4)} mol/L, by {weight} g/mol.")
            elif kind in ("amount", "count"):
                into = clause.unit[1] if clause.unit and clause.unit[0] == "mass" else "g"
                reply.lines.append(f"{said} are {units.written(units.convert('mass', moles * weight, 'g', into))} {into}, by {weight} g/mol.")
            else:
                into = clause.unit[1] if clause.unit and clause.unit[0] == "amount" else "mol"
                reply.lines.append(f"{said} are {units.written(units.convert('amount', moles, 'mol', into), 4)} {into}, by {weight} g/mol.")
    return True


def compare_with_limit(clause, ask, molecule, reply):
    """Whether a weight is above, below or at a limit that the words give."""
    limit = next((units.convert(kind, number, unit, "g/mol") for number, kind, unit in clause.amounts if kind == "molar mass"), None)
    if limit is None or ask.kind not in ("weight", "exact"):
        return
    number = value(ask, molecule)
    holds = number > limit if clause.has("greatest") else number < limit if clause.has("least") else abs(number - limit) <= max(0.05, limit * 0.001)
    word = "above" if number > limit else "below"
    reply.lines.append(f"{'Yes' if holds else 'No'}: it is {word} {units.written(limit)} g/mol." if clause.has("greatest") or clause.has("least") else f"{'Yes' if holds else 'No'}.")


def answer_conversion(clause, reply):
    """A number in other units, without a molecule."""
    if clause.molecules or not clause.amounts or clause.asks:
        return False
    wanted = [one for one in (clause.unit, *clause.units) if one]
    if not wanted:
        return False
    for number, kind, unit in clause.amounts:
        for into in wanted:
            if {kind, into[0]} == {"mass", "amount"}:
                reply.question = reply.question or "Of which molecule? Please give its name or its SMILES, such as CCO."
            elif into[0] != kind:
                reply.missing.append(f"{unit} and {into[1]} measure different things: there is no conversion.")
            elif into[1] != unit:
                reply.lines.append(f"{units.written(number)} {unit} are {units.written(units.convert(kind, number, unit, into[1]))} {into[1]}.")
    return True
