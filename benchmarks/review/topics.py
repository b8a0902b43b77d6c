"""The reviews of drug classes, and one line about each, written from its name alone."""

from __future__ import annotations

#: In alphabetical order; the first seven served for choosing the model, the others only for measuring.
LINES = {
    "ACEInhibitors": "ACE inhibitors, angiotensin converting enzyme inhibitors",
    "ADHD": "Drugs for attention deficit hyperactivity disorder, ADHD",
    "Antihistamines": "Antihistamines",
    "AtypicalAntipsychotics": "Atypical antipsychotics, antipsychotic drugs",
    "BetaBlockers": "Beta blockers, beta adrenergic blocking drugs",
    "CalciumChannelBlockers": "Calcium channel blockers",
    "Estrogens": "Estrogens, hormone replacement therapy",
    "NSAIDS": "NSAIDs, nonsteroidal anti-inflammatory drugs",
    "Opioids": "Opioids, opioid analgesics",
    "OralHypoglycemics": "Oral hypoglycemics, drugs for diabetes",
    "ProtonPumpInhibitors": "Proton pump inhibitors",
    "SkeletalMuscleRelaxants": "Skeletal muscle relaxants",
    "Triptans": "Triptans",
    "UrinaryIncontinence": "Drugs for urinary incontinence",
}

#: What every review of a drug class is after, whatever the class.
METHOD = "randomized controlled trial, efficacy and safety compared"

REVIEWS = tuple(LINES)
CHOSEN_ON = REVIEWS[:7]
