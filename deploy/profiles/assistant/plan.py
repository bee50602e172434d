#!/usr/bin/python3
"""plan: divides a request into its steps, one for each part that asks for something, by the words of that part. It is asked by a request of kind plan."""

import re

from task import Task, answer

from chemistry.reading import parts_of

# Who does a part, by what it speaks of; the first that fits. What fits none is told by chemistry_agent as not understood.
AGENTS = [
    ("rag_agent", r"\bpapers?\b|literature|\barticles?\b|publications?"),
    ("web_search_agent", r"\blatest\b|\bnews\b|\bweb\b|internet"),
    ("md_agent", r"\bsimulat|\bmd\b|molecular dynamics|trajector"),
    ("hem_agent", r"\bdesign\b|\bpso\b|backbone|\bhem\b|_bb_\d"),
    ("multiwfn_agent", r"analy[sz]\w*[^.]*(?:orbital|homo|lumo|results?|wave ?function|population|calculation)|electron density|population analysis"),
    ("chemistry_agent", r"weight|\bmass\b|formula|log ?p|valid|polar surface|tpsa|propert|how many|number of|chiral|functional|inchi|\bcharge of|\bsmiles\b(?! [A-Z(\[])"),
    ("qm_agent", r"energ|optimi[sz]|homo|lumo|frequenc|vibration|\bdft\b|dipole|geometry|single point|quantum|orbital"),
]
TITLES = {"qm_agent": "Run quantum chemistry calculation", "multiwfn_agent": "Analyze orbital energies (HOMO/LUMO) from calculation results"}
SECONDS = {"qm_agent": 20, "md_agent": 60, "multiwfn_agent": 20, "hem_agent": 60}


def agent_of(words):
    return next((agent for agent, pattern in AGENTS if re.search(pattern, words, re.I)), "chemistry_agent")


def ordered(words):
    """The words in the order in which they are to be done: "A after you B" is first B."""
    first = re.match(r"(?is)(.+?)\s+after (?:you |we |having )?((?:calculat|comput|analy[sz]|compar|optimi[sz]|simulat|find|determin|evaluat|predict|run).+)", words)
    return f"{first[2].rstrip('. ')}. {first[1]}" if first else words


# A part without any of these asks for nothing: it is a subject, a greeting or a name.
ASKS = re.compile(
    r"\b(?:calculat|comput|analy[sz]|compar|optimi[sz]|simulat|find|determin|evaluat|predict|run|search|look|design|tell|give|list|show|check|validat|convert|count|rank|sort|name|draw|make|do|say"
    r"|explain|what|which|how|is|are|does|was|wie|welche|ist|hat|berechne|bestimme|nenne|vergleiche)\w*\b", re.I)


def steps_of(words):
    tasks, molecules = [], []
    parts = parts_of(ordered(words))
    wanted = [part for part in parts if ASKS.search(part[0]) or any(re.search(pattern, part[0], re.I) for _, pattern in AGENTS)]
    for said, named in wanted or parts:
        said = re.sub(r"(?i)^(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|last(?:ly)?|finally|please|also|and)[,:]?\s+", "", said)
        agent = agent_of(said)
        uses = agent in ("md_agent", "multiwfn_agent")
        before = [task for task in tasks if task["assigned_to"] == "qm_agent"]
        depends = [before[-1]["task_id"]] if uses and before and (not named or set(m.written for m in named) <= set(molecules)) else []
        needs = agent not in ("rag_agent", "web_search_agent", "hem_agent")
        suffix = f" ({', '.join(molecules)})" if needs and not named and molecules else ""
        title = f"{TITLES[agent]}: " if agent in TITLES else ""
        tasks.append({
            "task_id": f"s{len(tasks) + 1}", "description": f"{title}{said}{suffix}", "assigned_to": agent, "dependencies": depends, "estimated_time_seconds": SECONDS.get(agent, 5)})
        molecules = [molecule.written for molecule in named] or molecules
    return tasks


task = Task()
steps = steps_of(task.request or task.words)
answer("\n".join(step["description"] for step in steps), {"tasks": steps})
