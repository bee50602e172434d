"""The words by which chemists ask for something, in English and German, each with what it asks for. Reading takes the first that fits, from the top."""

ELEMENTS = {
    "hydrogen": "H", "carbon": "C", "nitrogen": "N", "oxygen": "O", "fluorine": "F", "chlorine": "Cl", "bromine": "Br", "iodine": "I", "sulfur": "S", "sulphur": "S",
    "phosphorus": "P", "boron": "B", "silicon": "Si", "sodium": "Na", "potassium": "K", "lithium": "Li", "magnesium": "Mg", "calcium": "Ca", "iron": "Fe", "copper": "Cu",
    "zinc": "Zn", "silver": "Ag", "platinum": "Pt", "manganese": "Mn", "deuterium": "D", "aluminium": "Al", "aluminum": "Al",
    "wasserstoff": "H", "kohlenstoff": "C", "stickstoff": "N", "sauerstoff": "O", "fluor": "F", "chlor": "Cl", "brom": "Br", "iod": "I", "jod": "I", "schwefel": "S",
    "phosphor": "P", "bor": "B", "silicium": "Si", "silizium": "Si", "natrium": "Na", "kalium": "K",
}
SYMBOLS = ("H", "C", "N", "O", "F", "Cl", "Br", "I", "S", "P", "B", "Si", "Na", "K", "Li", "Mg", "Ca", "Fe", "Cu", "Zn")
NAMES = "|".join(sorted(ELEMENTS, key=len, reverse=True))
AN_ELEMENT = rf"(?P<element>{NAMES}|(?-i:{'|'.join(sorted(SYMBOLS, key=len, reverse=True))})(?![=#-]))"

# Groups that are counted and looked for: how people call them, and their SMARTS. The names are those of the answer.
GROUPS = [
    ("carboxylic acid", r"carboxylic acids?(?: groups?)?|carboxyl(?:ic)?(?: groups?)?|carbonsäure(?:gruppen?|n)?|carboxygruppen?|acid groups?", "[CX3;!$(C(=O)([OX2])[OX2])](=O)[OX2H1]"),
    ("carboxylate", r"carboxylates?(?: groups?)?", "[CX3](=O)[OX1-]"),
    ("anhydride", r"(?:acid )?anhydrides?(?: groups?)?", "[CX3](=O)[OX2][CX3](=O)"),
    ("acyl halide", r"(?:acyl|acid) (?:halides?|chlorides?)(?: groups?)?", "[CX3](=[OX1])[F,Cl,Br,I]"),
    ("carbonate ester", r"carbonate esters?", "[#6][OX2][CX3](=O)[OX2][#6]"),
    ("carbamate", r"carbamates?(?: groups?)?|urethanes?(?: groups?)?", "[NX3][CX3](=O)[OX2][#6]"),
    ("urea", r"urea groups?", "[NX3][CX3](=O)[NX3]"),
    ("nitrate ester", r"nitrate (?:esters?|groups?)", "[OX2][NX3+](=O)[OX1-]"),
    ("guanidine", r"guanidines? groups?|guanidino(?: groups?)?", "[NX3]C(=[NX2,NX3+])[NX3]"),
    ("isocyanate", r"isocyanates?(?: groups?)?", "[NX2]=C=[OX1]"),
    ("thioether", r"thioethers?(?: groups?)?|sulfides?(?: groups?)", "[#6][SX2][#6]"),
    ("ester", r"esters?(?: groups?| bonds?| functions?)?|estergruppen?", "[CX3;!$(C(=O)([#7,#8])[#7,#8])](=[OX1])[OX2H0][#6;!$(C=O)]"),
    ("amide", r"amides?(?: groups?| bonds?)?|amidgruppen?", "[NX3][CX3;!$(C([#7])(=O)[#7,#8])](=[OX1])"),
    ("aldehyde", r"aldehydes?(?: groups?)?|aldehydgruppen?", "[CX3;H1,H2;!$(C[#7,#8,#16])]=[OX1]"),
    ("ketone", r"ketones?(?: groups?)?|ketogruppen?|ketone?", "[#6][#6X3;!$([#6](=O)[#7,#8])](=[OX1])[#6]"),
    ("carbonyl", r"carbonyls?(?: groups?)?|carbonylgruppen?", "[CX3]=[OX1]"),
    ("phenol", r"phenolic (?:hydroxyls?|oh|groups?)|phenol groups?", "[OX2H][c]"),
    ("hydroxyl", r"hydroxyls?(?: groups?)?|hydroxy groups?|oh groups?|-?oh\b|alcohols?(?: groups?)?|hydroxygruppen?|hydroxylgruppen?|alkoholgruppen?", "[OX2H][#6;!$(C=O)]"),
    ("ether", r"ethers?(?: groups?| bonds?)?|ethergruppen?", "[OD2;!r3]([#6;!$(C=O)])[#6;!$(C=O)]"),
    ("primary amine", r"primary amines?(?: groups?)?", "[NX3;H2;!$(NC=[O,S,N]);!$(N[#7])][#6]"),
    ("secondary amine", r"secondary amines?(?: groups?)?", "[NX3;H1;!$(NC=[O,S,N])]([#6])[#6]"),
    ("tertiary amine", r"tertiary amines?(?: groups?)?", "[NX3;H0;!$(NC=[O,S,N]);!$(N=*);!$(N-[#7,#8])]([#6])([#6])[#6]"),
    ("amine", r"amines?(?: groups?)?|amino groups?|nh2 groups?|aminogruppen?|amingruppen?", "[NX3;H2,H1,H0;!$(NC=[O,S,N]);!$([N+]);!$(N[#7,#8,#16]);$(N[#6])]"),
    ("quaternary ammonium", r"quaternary ammoniums?(?: groups?)?|quaternary nitrogens?", "[NX4+]([#6])([#6])([#6])[#6]"),
    ("nitro", r"nitro(?: groups?)?|nitrogruppen?", "[$([NX3](=O)=O),$([NX3+](=O)[O-]);!$([N][OX2])]"),
    ("nitrile", r"nitriles?(?: groups?)?|cyano(?: groups?)?|cyanogruppen?|nitrilgruppen?", "[CX2]#[NX1]"),
    ("thiol", r"thiols?(?: groups?)?|mercapto(?: groups?)?|thiolgruppen?|sh groups?", "[SX2H]"),
    ("sulfone", r"sulfones?(?: groups?)?", "[#6][SX4](=O)(=O)[#6]"),
    ("sulfonamide", r"sulfonamides?(?: groups?)?", "[SX4](=O)(=O)[NX3]"),
    ("sulfoxide", r"sulfoxides?(?: groups?)?", "[#6][SX3](=O)[#6]"),
    ("sulfonic acid", r"sulfonic acids?(?: groups?)?", "[SX4](=O)(=O)[OX2H]"),
    ("halogen", r"halogens?(?: atoms?)?|halides?|halogenatome?n?", "[F,Cl,Br,I]"),
    ("alkene", r"alkenes?(?: groups?)?|c=c(?: double)?(?: bonds?)?|carbon[- ]carbon double bonds?|c=c-?doppelbindung(?:en)?", "[CX3]=[CX3]"),
    ("alkyne", r"alkynes?(?: groups?)?|carbon[- ]carbon triple bonds?", "[CX2]#[CX2]"),
    ("methyl", r"methyls?(?: groups?)?|methylgruppen?|ch3 groups?", "[CX4H3]"),
    ("methoxy", r"methoxy(?: groups?)?|methoxygruppen?", "[CX4H3][OX2][#6]"),
    ("phenyl", r"phenyls?(?: rings?| groups?)?|benzene rings?|phenylgruppen?|benzolringe?", "c1ccccc1"),
    ("epoxide", r"epoxides?(?: groups?)?", "C1OC1"),
    ("phosphate", r"phosphate groups?", "[PX4](=O)([O])([O])[O]"),
    ("azo", r"azo groups?", "[#6]N=N[#6]"),
    ("imine", r"imines?(?: groups?)?", "[CX3;!$(C(N)N)]=[NX2][#6,#1;!$(C=O)]"),
]

MANY = (r"(?:how many(?: of the)?|(?:the )?(?:total )?(?:number|count|amount)s? of(?: the| its)?|count(?: of)?(?: the| all| its| up)*|wie ?viele?|"
        r"(?:die )?(?:an)?zahl (?:der|an|von))")
# What is asked for of a molecule. A name in parentheses with a group "element" is completed by it.
PROPERTIES = [
    ("exact", r"(?:exact|accurate|monoisotopic|monoisotopische|exakte) (?:molecular )?(?:massen?|mass(?:es)?|weights?)"),
    ("percent", rf"(?P<element6>{NAMES})gehalt|(?:wie ?viel )?prozent (?:der masse )?(?:ist |sind |von )?(?P<element7>{NAMES})|(?:(?:mass |weight )?per ?cent(?:age)?|"
     rf"%|mass fraction|massenanteil|prozentsatz|anteil|fraction|proportion|share)(?: by (?:mass|weight))?(?: (?:of|"
     rf"an|von|is|are))*(?: the)? {AN_ELEMENT}\b(?: by (?:mass|weight))?(?: content)?|how much {AN_ELEMENT.replace('<element>', '<element2>')} (?:by (?:mass|"
     rf"weight) )?(?:is|does)|(?P<element3>{NAMES}) (?:content|percentage|mass fraction)|(?:what |how much )?(?:mass )?(?:fraction|per ?cent(?:age)?|%|share|"
     rf"proportion|part|much)\b[^.?!]{{0,60}}?\b(?:is|are|comes from|from|due to|made (?:up )?of|ist)(?: the)? (?P<element5>{NAMES})\b"),
    ("composition", r"(?:elemental|percent(?:age)?|mass|elementare) (?:composition|analysis|zusammensetzung)|composition by (?:mass|weight)|elementaranalyse|"
     r"chn analysis"),
    ("empirical", r"empirical formulae?s?|verhältnisformel"),
    ("formula", r"(?:molecular |chemical |sum |summen|molekül)?(?:formula(?:e|s)?|formel(?:n)?)\b|which elements|what elements"),
    ("weight", r"(?:molar|molecular|relative molecular|formula|average|mol\.?|molare|relative)[ -]?(?:massen?|mass(?:es)?|weights?|wt\.?)|molekular(?:gewichte?|"
     r"massen?)|mol(?:ekül)?massen?|molgewichte?|\bm\.?w\.?\b|mol\.? ?wt\.?|\bmass(?:es)?\b|\bmassen?\b|\bweights?\b|\bgewichte?\b|how heavy|wie schwer|\bweighs?\b|"
     r"\bwiegt\b|\bwiegen\b"),
    ("logp", r"\bc?log ?-?p(?:[ -]?values?)?\b|\blipophilic\b|\bhydrophobic\b|\balogp\b|lipophilicit\w+|partition coefficients?|octanol[- ]water\w*(?: coefficient)?|"
     r"lipophilie|hydrophobicit\w+"),
    ("tpsa", r"\bt?psa\b|(?:topological )?polar surface(?: areas?)?|\bpolar\b|\bpolarity\b|polare oberfläche"),
    ("donors", rf"(?:{MANY} )?(?:h|hydrogen)[- ]?bond(?:ing)?[- ]?donors?|\bhbd\b|wasserstoffbrücken-?donor(?:en)?|(?:{MANY} )?donors?\b"),
    ("acceptors", rf"(?:{MANY} )?(?:h|hydrogen)[- ]?bond(?:ing)?[- ]?acceptors?|\bhba\b|wasserstoffbrücken-?akzeptor(?:en)?|(?:{MANY} )?acceptors?\b"),
    ("rotors", rf"(?:{MANY} )?rotatable bonds?|(?:{MANY} )?(?:drehbare bindungen|rotors)"),
    ("refractivity", r"molar refractivit\w+"),
    ("sp3 carbons", rf"{MANY} sp3[- ](?:hybridi[sz]ed )?(?:carbons?(?: atoms?)?|c)"),
    ("configuration", r"(?:absolute )?(?:configurations?|stereochemistry|cip labels?)|r or s\b|konfiguration"),
    ("sp3", r"fraction (?:of )?(?:csp3|sp3)(?: carbons?)?|\bfsp3\b|csp3"),
    ("lipinski", r"lipinski(?:'s)?(?: rules?)?(?: of (?:five|5))?|rules? of (?:five|5)|ro5|drug[- ]?like(?:ness)?"),
    ("unsaturation", r"degrees? of unsaturation|(?:double[- ]bond|hydrogen[- ]deficiency) (?:equivalents?|index)|\bdbe\b|index of hydrogen deficiency|\bihd\b|"
     r"doppelbindungsäquivalente?"),
    ("valence", rf"(?:{MANY} )?valence electrons?|valenzelektronen"),
    ("electrons", rf"(?:{MANY} )electrons?\b|(?:{MANY} )elektronen"),
    ("stereoisomers", rf"{MANY} stereo-?isomers?|{MANY} stereoisomere"),
    ("undefined stereo", r"(?:undefined|unspecified|unassigned) stereo\w*"),
    ("stereo", rf"(?:{MANY} )?(?:stereo(?:genic )?(?:cent(?:er|re)s?|zentren|zentrum|genic cent(?:er|re)s?)|stereogenic cent(?:er|re)s?|chiral(?:ity)? (?:cent(?:er|"
     rf"re)s?|carbons?|atoms?)|chiralitätszentren|asymmetric carbons?(?: atoms?)?|stereo ?cent(?:er|re)s?)"),
    ("chiral", r"\b(?:a)?chiral(?:ity|e|es|er)?\b|optically active|enantiomers?"),
    ("aromatic rings", rf"(?:{MANY} )?aromatic (?:rings?|cycles?)|aromatische ringe|how many (?:of (?:them|these|those) )?are aromatic"),
    ("aromatic atoms", rf"(?:{MANY} )?aromatic (?:atoms?|carbons?(?: atoms?)?)"),
    ("rings", rf"(?:{MANY} )(?:different )?(?:rings?|cycles?|ringe)\b|ring (?:count|number)|\brings?\b|\bringe\b"),
    ("double bonds", rf"(?:{MANY} )?double bonds?|doppelbindungen"),
    ("triple bonds", rf"(?:{MANY} )?triple bonds?|dreifachbindungen"),
    ("bonds", rf"(?:{MANY} )(?:covalent |chemical )?bonds?\b|bindungen"),
    ("heavy atoms", rf"(?:{MANY} )?(?:heavy|non[- ]?hydrogen) atoms?|schweratome|schwere atome"),
    ("heteroatoms", rf"(?:{MANY} )?hetero[- ]?atoms?|heteroatome"),
    ("element", rf"(?:{MANY} )?atoms of (?P<element5>{NAMES})\b|(?:{MANY} (?:the )?(?:total )?){AN_ELEMENT}(?:[- ]?atoms?|[- ]?atome?n?|s)?\b|"
     rf"(?P<element2>{NAMES})[- ]?(?:atoms?|atome?n?)\b|"
     rf"(?P<element4>{NAMES}) count"),
    ("has element", rf"(?:contains?|have|has|is there|are there|enthält|hat)(?: any| an?| some)? (?P<element>{NAMES})\b(?! ?(?:group|chloride|bromide))"),
    ("atoms", rf"(?:{MANY} )(?:the |all )?(?:total )?(?:atoms?|atome)\b|total (?:number of )?atoms|atom count|\batoms\b(?= (?:in total|altogether))"),
    ("charge", r"(?:(?:formal|total|net|overall|ionic|gesamt)[ -]?)*(?:charges?|ladung)\b|\bcharged\b|\bneutral\b|\bgeladen\b"),
    ("aromatic", r"\baromatic(?:ity)?\b|\baromatisch\b"),
    ("inchikey", r"\binchi-?keys?\b"),
    ("inchi", r"\binchis?\b"),
    ("canonical", r"(?:canonical|kanonische[rns]?)(?: smiles)?"),
    ("scaffold", r"(?:murcko )?scaffolds?"),
    ("groups", r"functional groups?|funktionelle[n]? gruppen?|which groups"),
    ("smiles", r"\bsmiles(?:[- ](?:strings?|notations?|codes?|representations?))?\b|\bstructures?\b(?! of the)|line notation|\bstruktur(?:en)?\b"),
    ("name", r"(?:iupac|systematic|common|trivial|chemical|systematische[rn]?|chemische[rn]?)?[ -]?(?:names?|namen?)\b|\bcalled\b|which (?:molecule|compound|"
     r"substance)|what (?:molecule|compound|substance) is|\bheißt\b|\bidentif(?:y|ied)\b|what is this|\brepresents?\b|\bstands? for\b|\bcorresponds? to\b"),
    ("valid", r"\b(?:in)?valid(?:ity|e)?\b|\bvalidate\b|\bcorrect(?:ly)?(?: written)?\b|\bright\b|\bgültig(?:e[srn]?)?\b|\bkorrekt\b|\bparse[sd]?\b|well[- ]formed|"
     r"what(?:'s| is) wrong|\brepair\b|\bfix\b|(?:mistakes?|errors?)\b"),
    ("properties", r"\b(?:physicochemical |chemical |molecular |basic )?(?:properties|descriptors|eigenschaften)\b|tell me (?:all )?about|everything about|"
     r"\boverview\b|\bsummar\w+"),
]

# What people ask of molecules, and what cannot be known here from the structure alone.
CANNOT = (
    r"(?:boiling|melting|freezing|flash|glass transition) (?:points?|temperatures?)|boils?\b|melts?\b|solub\w+|toxic\w*|poison\w*|\bld50\b|densit\w+|\bpk[ab]\b|"
    r"(?:vapou?r|steam) pressure|viscosit\w+"
    r"|refractive (?:index|indices)|(?:\w+ )?spectr\w+|\bnmr\b|\buv\b|synthes\w+|retrosynthes\w+|reactivit\w+|react(?:s|ion|ions)?\b(?: with)?|prices?|costs?|"
    r"colou?rs?\b|smells?\b|odou?rs?|tastes?\b|hazard\w*|stabilit\w+"
    r"|bioavailab\w+|half[- ]li(?:fe|ves)|side effects?|dos(?:e|es|age)\b|\bcas\b(?: registry)?(?: numbers?)?|history|discover\w*|invent\w*|used for|uses of|"
    r"mechanism\w*|"
    r"flammab\w+|acidit\w+|\bacidic\b|second[- ](?:highest|lowest|heaviest|lightest|largest|smallest)|(?:smallest|largest) rings?|ring sizes?|tanimoto|similarit\w+|"
    r"\bqed\b|m/z"
    r"|siedepunkte?|schmelzpunkte?|löslich\w*|giftig\w*|dichte\b|preis\b|farbe\b|geruch\b|brennbar\w*")

OPERATIONS = [
    ("descending", r"(?:from )?(?:the )?(?:highest|heaviest|largest|biggest|greatest|high|most) to (?:the )?(?:lowest|lightest|smallest|low|least)|(?:highest|"
     r"heaviest|largest) first"),
    ("ascending", r"(?:from )?(?:the )?(?:lowest|lightest|smallest|low|least) to (?:the )?(?:highest|heaviest|largest|biggest|greatest|high|most)|(?:lowest|lightest|"
     r"smallest) first"),
    ("same property", r"\b(?:the )?same (?=(?:number|molecular|chemical|molar|formula|weight|mass|charge|log|polar|amount|empirical|exact|degree|total|elements))|"
     r"\bequal\b|\bequally\b"),
    ("same", r"\b(?:the )?same (?:molecules?|compounds?|substances?|structures?|thing|species)\b|\bidentical\b|\bequivalent\b|\bdasselbe\b|\bidentisch\b|gleiche(?:n|"
     r"s)? (?:molekül|verbindung)|\bsame as\b|\bthe same\b"),
    ("isomers", r"\b(?:constitutional |structural |stereo)?isomers?(?: of each other)?\b|\w*isomere?n?\b|\bisomeric\b"),
    ("ratio", r"\bratios?\b|how many times|(?:times )?as (?:heavy|large|big|much) as|\bverhältnis\b|by what factor"),
    ("difference", r"\bchang(?:e|es|ed)\b|\bdifferences?\b|um wie ?viel|how many (?:more|fewer)|\bdiffers?\b|how much (?:heavier|lighter|more|less|larger|smaller|"
     r"higher|lower)|by how much|"
     r"\bunterschiede?n?\b|\bdifferenz\b|\bminus\b|\bsubtract\b"),
    ("sum", r"\b(?:sum|total|combined|summe)\b(?! (?:number|charge|formula|atoms?|count))(?: of)?|\badd(?:ed)? (?:up|together)\b"),
    ("average", r"\b(?:mean|average)\b(?! (?:mass|molecular|weight))|\bdurchschnitt\w*"),
    ("greatest", r"\b(?:heaviest|heavier|largest|larger|biggest|bigger|highest|higher|greatest|greater|maximum|most|more|schwer(?:er|ste[rns]?)|größ(?:er|te[rns]?)|"
     r"höher|höchste[rns]?)\b"),
    ("least", r"\b(?:lightest|lighter|smallest|smaller|lowest|lower|fewest|fewer|minimum|least|less|leicht(?:er|este[rns]?)|klein(?:er|ste[rns]?)|niedrig(?:er|"
     r"ste[rns]?))\b"),
    ("ascending", r"(?:\b(?:rank|sort|order|arrange|sortiere|ordne)\w*\b.*)?(?:\b(?:ascending|increasing|aufsteigend|lightest (?:first|to)|smallest (?:first|to)|"
     r"low(?:est)? to high(?:est)?|from (?:the )?(?:lightest|smallest|lowest))\b)"),
    ("descending", r"\btrends?\b|\b(?:rank(?:ed|ing)?|sort(?:ed|iere)?|order(?:ed)? by|arrange|put in order|ordne|rangfolge|in order of|descending|decreasing|"
     r"absteigend)\b"),
    ("compare", r"\bcompar(?:e|es|ed|ing|ison|isons|atively)\b|\bversus\b|\bvs\b\.?|\bvergleich\w*|side by side|\btable\b|\btabelle\b|\btabulate\b"),
    ("contains", r"\b(?:contains?|contain(?:ing)?|have|has|having|with|is there|are there|enthält|present|bear|possess(?:es)?)\b"),
    ("molarity", r"\bmolarity\b|\bmolar concentrations?\b|\bconcentrations?\b|\bkonzentration\b"),
    ("draw", r"\b(?:draw|depict|picture|image|drawing|sketch|plot|zeichne\w*|bild)\b"),
    ("convert", r"\b(?:convert|conversion|express(?:ed)?|translat\w+|transform\w*|umrechnen|rechne|wandle)\b"),
]

GREETING = r"\b(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|greetings|hallo|guten (?:tag|morgen|abend)|moin|servus)\b"
THANKS = r"\b(?:thanks?(?: you)?(?: (?:very|so) much| a lot)?|thx|cheers|danke(?: schön)?|vielen dank|perfect|great)\b"
WHO = (r"\b(?:who (?:are|made) you|what (?:are you|can you do|do you do)|how do you work|help(?: me)?$|wer bist du|was kannst du|your name|are you (?:a|an) \w+|"
       r"what can i ask)\b")
BYE = r"\b(?:good ?bye|bye(?:[- ]bye)?|see you|farewell|tschüss|auf wiedersehen|ciao)\b"
PLAN_ONLY = (
    r"\b(?:only|just|nur)\b[^.?!]{0,40}\bplan\b|\bplan only|\bplane?\b[^.?!]{0,120}(?:\bnot\b|n't\b|\bnicht\b|\bnichts\b|no execution|without)|without (?:doing|"
    r"executing|running|carrying)"
    r"|(?:do not|don't) (?:execute|run|carry|calculate anything|compute anything|calculate it|compute it)|how would you (?:find|determine|calculate|go about|plan|"
    r"approach)|outline the steps")

# Words of a sentence that ask for nothing by themselves.
AROUND = set("""
warum kein keine
enthält enthalten elemente likely respective equals don't doesn't isn't aren't didn't führe führen nichts nicht plane plan berechnung gewicht gewichts
formel derive drugs plus percent elements hydrocarbon including assistant message finds lecture students grateful immensely advance helped explanation
reject smallest ends contain contained insgesamt eigentlich könnten könntest bräuchte freundlicherweise zuerst nennen prüfe folgenden gibt groß hoch
mehr sehr ist verify confirm ensure obey obeys satisfy satisfies fulfil fulfill violate violates pass passes meet meets comply complies keep keeps
break breaks rule rules sub a about above according across actually after again all along also although am among amount an and another any anyone
anything are as ask asked asking at away back be because been before begin being below beside besides between both briefly but by calculate calculated
calculating can cannot carefully check chemical chemist chemistry class clear clearly come compound compounds compute computed consider could curious
current curiosity database dear describe detail detailed details determine did different directly do does doing done down drug each easily either else
end enough estimate etc evaluate even every exact exactly example examples explain explicitly few figure final finally find first follow following for
form from full further g general get give given gives giving go going good got had has have having he help her here his how however i if i'd i'll i'm
i've in include including individual inside instead into involved is isn't it item its itself just kind kindly know known last later latter least let
let's like list listed lists long look looking made main make making many match me mean means member mention molecule molecules molecular more most
much must my name named namely need needed needs next nicely no not note now number numbers of off ok okay on once one ones only onto or order other
our out over own pair per perhaps please possible predict present print problem proceed produce provide provided purpose put question questions quick
quickly quite rather read really refer regarding report represent respectively result results return right round rounded run said same say second see
seem separately set several shall she short should show simple simply since single small so solve some somebody someone something sort species specify
start state step steps still string structure student substance such sure take taken takes task tell than that that's the their them then there
there's therefore these they thing things think third this those three through thus time times to together too total toward true try turn two type
under unit units until up upon us use used useful using value values various very via want wanted was way we well were what what's whats when where
whether which while who whole whose why will wish with within without wonder wondering work world worth would write written wrong yes yet you you'd
your yours zero four five six seven eight nine ten whatever case report homework lab school exam student teacher exercise colleague sample bottle
flask label urgent decimal decimals places digits significant places nearest precise precisely precision accurate accurately kindly appreciate
appreciated hope hi hello hey thanks thank dear cheers regards best everyone please tagged tag tags ab aber alle allem allen als also am an auch auf
aus bei bin bis bitte da dabei dann das dass dem den denn der des dessen dich die dies diese dieser dieses dir doch du durch ein eine einem einen
einer eines er es etwas für gern gerne gib habe haben hat hätte ich ihr ihre im in ist ja kann kannst können lautet mal man mein meine mich mir mit
möchte molekül moleküle moleküls nach nenne nicht noch nun nur ob oder ohne sag sage schreib schreibe sein seine sich sie sind so sowie stoff substanz
über um und uns unter verbindung verbindungen viel viele vom von vor wann war was welche welchen welcher welches wenn wer wie wieviel wieviele will
wird wo wozu zeig zeige zu zum zur berechne berechnen bestimme ermittle dessen deren davon jeweils beide beiden beim
""".split())
# A word that stands for the molecule that was spoken of before.
PRONOUN = (r"\b(?:it|its|it's|they|their|them|this (?:molecule|compound|one|smiles)|that (?:molecule|compound|one|smiles)|the (?:molecule|compound|same|result|"
           r"product|former|latter)|each|both|all (?:of (?:them|these|those)|three|four)|these|those|dessen|deren|davon|seine?|ihre?|that|this|from that|of that)\b")
