"""What a person wants of a calculation beside the molecule: solvent, charge, multiplicity, vibrations. And what they want that nothing here does.

What is understood is done. What is understood and not done is told with the answer; nothing is left out without a word.
"""

import re

from task import refuse, signed, without_molecules

# The solvents of xtb's ALPB, by what people call them.
SOLVENTS = {
    "water": "water", "h2o": "water", "acetone": "acetone", "acetonitrile": "acetonitrile", "mecn": "acetonitrile", "aniline": "aniline", "benzaldehyde": "benzaldehyde",
    "benzene": "benzene", "dichloromethane": "ch2cl2", "methylene chloride": "ch2cl2", "dcm": "ch2cl2", "ch2cl2": "ch2cl2", "chloroform": "chcl3", "chcl3": "chcl3",
    "carbon disulfide": "cs2", "cs2": "cs2", "dioxane": "dioxane", "dimethylformamide": "dmf", "dmf": "dmf", "dimethyl sulfoxide": "dmso", "dmso": "dmso",
    "diethyl ether": "ether", "ether": "ether", "ethyl acetate": "ethylacetate", "furan": "furane", "hexadecane": "hexadecane", "hexanes": "hexane", "hexane": "hexane",
    "methanol": "methanol", "meoh": "methanol", "nitromethane": "nitromethane", "octanol": "octanol", "phenol": "phenol", "toluene": "toluene",
    "tetrahydrofuran": "thf", "thf": "thf",
}
OTHERS = (
    "ethanol|etoh|(?:iso)?propanol|butanol|pyridine|xylene|cyclohexane|heptane|pentane|octane|dichloroethane|nmp|dmac|acetic acid|ammonia|glycerol"
    "|(?:ethylene|propylene) (?:carbonate|glycol)|(?:an? )?ionic liquids?")
NAMED = "|".join(sorted(map(re.escape, SOLVENTS), key=len, reverse=True))
BEFORE = r"\b(?:in|solvent(?: is)?:?|dissolved in|solvated (?:in|by|with))\s+(?:(?:implicit|pure|liquid|bulk|the|an?)\s+)*"
VIBRATIONS = r"\bfrequenc|\bvibration|\bhessian|\bthermochem|\bthermodynamic|free energ|zero[- ]point|\bzpe\b|\benthalp|\bentrop|\bir\b|infrared"
SPINS = {"singlet": 1, "doublet": 2, "triplet": 3, "quartet": 4, "quintet": 5, "sextet": 6}

# What people ask for and what is not done here, by what is said of it.
NOT_DONE = [
    (r"\bn\.?m\.?r\b|chemical shifts?", "NMR"),
    (r"\b[sdt][1-9]\d? (?:excited )?states?\b|\buv\b|uv[-/ ]?vis|excited? states?|excitations?\b|\btd-?dft\b|absorption spectr", "excited states"),
    (r"\braman\b", "Raman intensities"),
    (r"6-31\+*g\S*|def2-\w+|cc-pv\w+|basis sets?", "another basis set: GFN2-xTB has one of its own"), (r"\bccsd\S*|\bmp2\b|\bcoupled cluster", "wave function methods"),
    (r"solvation (?:free )?energ\w+", "the energy of solvation"), (r"redox|ioni[sz]ation (?:potential|energ)|electron affinit", "redox potentials and ionization energies"),
    (r"\bpka\b", "pKa"),
    (r"(?:binding|interaction|dissociation|reaction|activation|relative|isomeri[sz]ation|stabili[sz]ation|strain) (?:free )?(?:energ|enthalp)|\b(?:energy )?differences?\b|affinit\w+ for",
     "differences of energies of several structures"),
    (r"\bdimers?\b|\btrimers?\b|\btetramers?\b|\boligomers?\b|\bpolymers?\b|\bclusters?\b|\bmicelles?\b", "more than one copy of a molecule: write them side by side, as in O.O"),
    (r"heats? of formation", "heats of formation"), (r"\bpressures?\b|\d ?(?:[kmg]?pa|bar|atm|torr)\b", "a pressure: the molecule is alone"),
    (r"electrostatic potential|\besp\b|\belf\b|\bqtaim\b|\bnbo\b|fukui|spin densit|electron densit",
     "maps and partitions of the density but for Mulliken charges"),
    (r"conformer|conformational", "a search for conformers: the best of ten is taken"), (r"\bdocking\b", "docking"),
    (r"crystal|periodic|band structure|\bbulk (?:phase|structure)", "periodic systems"),
]
NOT_SIMULATED = [
    (r"\bnpt\b|\bpressure\b|\d ?(?:bar|atm)\b", "a pressure: the molecule is alone, at constant temperature"), (r"\bnve\b", "constant energy (NVE)"),
    (r"explicit (?:water|solvent)|water box|box of|periodic", "a box with explicit solvent"),
    (r"gromacs|lammps|amber|charmm|openmm|opls|gaff", "another program or force field: this is GFN-FF of xtb"),
    (r"diffusion|viscosity|glass transition|\btg\b|densit\w+|radius of gyration|\brdf\b|radial distribution", "evaluations of the trajectory: it comes along as a file"),
    (r"time ?step", "another time step: it is 1 fs"),
]


class Wishes:
    def __init__(self, words):
        self.words = without_molecules(words).lower().replace("−", "-")
        self.solvent, self.solvent_told = self._solvent()
        self.charge, self.ionized = self._charge()
        self.multiplicity = self._multiplicity()
        self.vibrations = bool(re.search(VIBRATIONS, self.words.replace("solvation free energ", "")))
        self.dipole = "dipole" in self.words
        self.charges = bool(re.search(r"\b(?:partial|atomic|mulliken) charges?\b|\bcharges\b|population analys|charge distribution", self.words))
        if re.search(r"transition states?|\bts\b|saddle point|\bneb\b|\birc\b|reaction path|activation (?:energ|barrier)|\bbarriers?\b", self.words):
            refuse("Transition states, reaction paths and barriers cannot be calculated here, and an optimized molecule would be no answer to that: nothing was calculated.")

    def _solvent(self):
        known = re.search(rf"{BEFORE}({NAMED})\b", self.words) or re.search(rf"\b({NAMED}) (?:solution|solvent|solvation|as (?:a )?solvent)\b", self.words)
        if known:
            return SOLVENTS[known[1]], known[1]
        if re.search(r"\baqueous\b|\bin aqua\b", self.words):
            return "water", "water"
        other = re.search(rf"{BEFORE}({OTHERS})\b", self.words)
        if other or re.search(r"\bsolvents?\b|\bsolvated\b|\bin solution\b|\bpcm\b|\bcosmo\b|\bsmd\b|\balpb\b|\bgbsa\b", self.words):
            refuse(f"{other[1] if other else 'This solvent'} is not known to xtb. It knows: {', '.join(sorted(set(SOLVENTS.values())))}.")
        return None, ""

    def _charge(self):
        """The charge that is asked for, and by how much a radical ion differs from the SMILES."""
        asked = re.search(r"\bcharge(?:\s+(?:of|is|state))*\s*[:=]?\s*([+-]?)\s?(\d)(\+|-)?(?!\d)", self.words)
        if asked:
            return int(asked[2]) * (-1 if "-" in (asked[1], asked[3]) else 1), 0
        other = re.search(r"([+-]\d) charge\b", self.words)
        if other:
            return int(other[1]), 0
        return (0 if re.search(r"\b(?:neutral|uncharged)\b", self.words) else None), 1 if "radical cation" in self.words else -1 if "radical anion" in self.words else 0

    def _multiplicity(self):
        for name, multiplicity in SPINS.items():
            if re.search(rf"\b{name}\b", self.words):
                return multiplicity
        asked = re.search(r"multiplicity\s*(?:of|is|[:=])?\s*(\d)", self.words)
        unpaired = re.search(r"\b(\d|one|two|three|four) unpaired", self.words) or re.search(r"\buhf\s*=?\s*(\d)", self.words)
        spin = re.search(r"\bspin\s*(?:of|is|[:=]|s\s*=)?\s*(\d)(/2)?", self.words)
        if asked:
            return int(asked[1])
        if unpaired:
            return {"one": 1, "two": 2, "three": 3, "four": 4}.get(unpaired[1], 0) + 1 if not unpaired[1].isdigit() else int(unpaired[1]) + 1
        return None if not spin else int(spin[1]) + 1 if spin[2] else 2 * int(spin[1]) + 1

    def state(self, smiles, charge, protons):
        """The charge and the number of unpaired electrons: those of the SMILES, or those asked for."""
        charge = self.charge if self.charge is not None else charge + self.ionized
        electrons = protons - charge
        if self.multiplicity is None:
            return charge, electrons % 2
        if self.multiplicity < 1 or (electrons + self.multiplicity) % 2 == 0 or self.multiplicity > electrons + 1:
            refuse(f"A multiplicity of {self.multiplicity} does not fit {smiles}: with charge {signed(charge)} it has {electrons} electrons.")
        return charge, self.multiplicity - 1

    def not_done(self, listed=NOT_DONE):
        """What is told with an answer that leaves something out."""
        left_out = [told for pattern, told in listed if re.search(pattern, self.words)]
        return [f"Not done here: {'; '.join(left_out)}."] if left_out else []
