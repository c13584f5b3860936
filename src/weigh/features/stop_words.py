"""Words that stand in every English text and tell little of what it is about.

The closed classes of the language: articles, pronouns, prepositions, conjunctions, auxiliary verbs
and the commonest adverbs of place, time and degree.
"""

_LISTED = """
    a about above across after afterwards again against all almost alone along already also although
    always am among an and another any anybody anyone anything anywhere are around as at away be
    became because become becomes been before behind being below beside besides between beyond both
    but by can cannot could did do does doing done down during each either else enough even ever
    every everybody everyone everything everywhere few for from further had has have having he hence
    her here hers herself him himself his how however i if in indeed instead into is it its itself
    just least less many may me meanwhile might mine more moreover most much must my myself near
    neither never nevertheless no nobody none nor not nothing now nowhere of off often on once one
    only onto or other others otherwise our ours ourselves out over own per perhaps quite rather
    same shall she should since so some somebody somehow someone something sometimes somewhere still
    such than that the their theirs them themselves then thence there thereby therefore these they
    this those though through throughout thus to together too toward towards under unless until up
    upon us very via was we were what whatever when whenever where whereas wherever whether which
    while who whoever whole whom whose why will with within without would yet you your yours
    yourself yourselves
"""

ENGLISH = tuple(_LISTED.split())
