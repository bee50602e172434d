"""Units that chemists write, as multiples of one of each kind. Factors are exact, or those of CODATA 2022."""

import re

AVOGADRO = 6.02214076e23
HARTREE = 2625.4996394799  # kJ/mol
ELECTRON_VOLT = 96.48533212331  # kJ/mol
# By kind: the name that is written in an answer, how people write it, and its factor.
UNITS = {
    "energy": [
        ("kJ/mol", r"kj(?: ?/ ?mol| mol-1| per mole?|·mol-1)", 1.0), ("kcal/mol", r"kcal(?: ?/ ?mol| mol-1| per mole?)", 4.184), ("J/mol", r"j ?/ ?mol|joules? per mole?", 0.001),
        ("eV", r"ev|electron ?volts?|elektronenvolt", ELECTRON_VOLT), ("meV", r"mev", ELECTRON_VOLT / 1000),
        ("Eh", r"eh|hartrees?|a\.?u\.?(?= ?of energy)", HARTREE), ("cm⁻¹", r"cm(?:-1|⁻¹|\^-1)|wavenumbers?|wellenzahlen?", 0.01196265658),
    ],
    "heat": [("kJ", r"kj|kilojoules?", 1.0), ("kcal", r"kcal|kilocalories?|kilokalorien?", 4.184), ("J", r"joules?|j", 0.001), ("cal", r"calories?|cal|kalorien?", 0.004184)],
    "molar mass": [("g/mol", r"g ?/ ?mol|g per mol(?:e)?|grams? per mole?|gramm pro mol", 1.0), ("kg/mol", r"kg ?/ ?mol|kg per mol(?:e)?|kilograms? per mole?", 1000.0),
                   ("mg/mmol", r"mg ?/ ?mmol", 1.0), ("Da", r"da|daltons?|amu|atomic mass units?", 1.0), ("kDa", r"kda|kilodaltons?", 1000.0), ("u", r"u", 1.0)],
    "mass": [("g", r"g|grams?|grammes?|gramm", 1.0), ("kg", r"kg|kilograms?|kilos?|kilogramm", 1000.0), ("mg", r"mg|milligrams?|milligramm", 0.001), ("µg", r"[uµμ]g|micrograms?", 1e-6)],
    "amount": [("mol", r"mols?|moles?", 1.0), ("mmol", r"mmols?|millimoles?|millimol", 0.001), ("µmol", r"[uµμ]mols?|micromoles?", 1e-6), ("kmol", r"kmols?|kilomoles?", 1000.0)],
    "length": [("Å", r"å|angstroms?|ångströms?|ångstroms?", 0.1), ("nm", r"nm|nanomet(?:er|re)s?", 1.0), ("pm", r"pm|picomet(?:er|re)s?", 0.001), ("bohr", r"bohrs?", 0.0529177210544)],
    "time": [("fs", r"fs|femtoseconds?", 0.001), ("ps", r"ps|picoseconds?", 1.0), ("ns", r"ns|nanoseconds?", 1000.0), ("µs", r"[uµμ]s|microseconds?", 1e6)],
    "pressure": [("bar", r"bar", 1.0), ("atm", r"atm|atmospheres?", 1.01325), ("kPa", r"kpa|kilopascals?", 0.01), ("Pa", r"pa|pascals?", 1e-5),
                 ("MPa", r"mpa", 10.0), ("mmHg", r"mm ?hg|torr", 0.00133322368)],
    "temperature": [("K", r"k|kelvins?", None), ("°C", r"° ?c|℃|degc|(?:degrees? )?celsius|grad celsius", None), ("°F", r"° ?f|degf|(?:degrees? )?fahrenheit", None)],
    "volume": [("L", r"l|liters?|litres?", 1.0), ("mL", r"ml|milliliters?|millilitres?", 0.001)],
}
NUMBER = r"[-−+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+(?:[.,]\d+)?)(?: ?(?:e|E|[x×*·] ?10\^?)\(?[-−+]?\d+\)?)?"


def number_of(written):
    """A number as people write it: 1,000 is a thousand, and 26,85 has two decimals."""
    written = re.sub(r" ?[x×*·] ?10\^?", "e", written.replace("−", "-")).replace("(", "").replace(")", "").replace(" ", "")
    if re.match(r"[-+]?\d{1,3}(?:,\d{3})+(?!\d)", written):
        written = written.replace(",", "")
    elif re.match(r"[-+]?\d{1,3}(?:\.\d{3})+,", written):
        written = written.replace(".", "")
    return float(written.replace(",", "."))


def unit_in(words):
    """The kind and the name of a unit that is written so, and nothing else."""
    words = words.strip().lower()
    for kind, units in UNITS.items():
        for name, pattern, factor in units:
            if (factor is not None or kind == "temperature") and re.fullmatch(pattern, words):
                return kind, name
    return None


def pattern_of(*kinds):
    """An expression that finds a unit of these kinds, the longer way of writing first."""
    found = [pattern for kind in kinds or UNITS for _, pattern, factor in UNITS[kind] if factor is not None or kind == "temperature"]
    return "(?:" + "|".join(sorted((one for pattern in found for one in re.split(r"\|(?![^(]*\))", pattern)), key=len, reverse=True)) + r")(?![\w/⁻-])"


def factor_of(kind, name):
    return next(factor for one, _, factor in UNITS[kind] if one == name)


def convert(kind, value, unit, into):
    if kind == "temperature":
        kelvin = {"K": value, "°C": value + 273.15, "°F": (value + 459.67) * 5 / 9}[unit]
        return {"K": kelvin, "°C": kelvin - 273.15, "°F": kelvin * 9 / 5 - 459.67}[into]
    return value * factor_of(kind, unit) / factor_of(kind, into)


def written(value, digits=6):
    """A number as people write it: without an exponent where it is neither large nor small."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}"
    text = f"{value:.{max(0, digits - 1 - int(f'{abs(value):e}'.split('e')[1]))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
