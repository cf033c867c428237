"""Tells English from other languages by the little words that every sentence has."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    (
        "a about after all also an and any are as at be been but by can could did do does don for from get"
        " had has have he her his how i if in into is isn it its just like ll m me my never no not now of on"
        " one only or our out please re s say she should so some t than that the their them then there they"
        " this to up us use was we were what when where which who will with would you your"
    ).split()
)
#: Of the other languages of Europe; none of them is an English word.
_OTHERS = frozenset(
    (
        "der die das und ist nicht ein eine einen einem einer mit für auf von zu im den dem des sich auch"
        " wir ich du sie es hat haben sind wird bitte nur noch mehr aber wenn dass oder bei nach aus über"
        " unser mein übrigens le la les un une et est pas que qui dans pour sur avec nous vous je tu il elle"
        " sont était au aux ce cette ne se plus mais ou où notre mon ma être fait déjà quoi el los las y en"
        " por con para una del lo su al como más pero sus ya hay muy está esta este nos mi mis o os um uma"
        " não em na da dos com mas foi ao ele ela já eu meu minha gli e di che è per non sono si della nel"
        " alla come più anche questo questa ci noi abbiamo de het een van ik te dat niet op aan met voor er"
        " maar om hem dan zou wat mijn ons deze naar och att det som på är av för med till har inte ett men"
        " jag vi så kan från eller ikke jeg og af til w z że się nie jest za jak po od ale już ten ta nigdy"
        " tym są dla przez mnie hej v že jsem není jako pro tak už jsme и в не на что с по это как а но из у"
        " за к я мы он она они для от до был была так же если только ещё ve bir bu için ile çok ben var ama"
        " daha gibi vor dir mir uns euch wie toujours jamais chez très siempre nunca"
    ).split()
)


@lru_cache(maxsize=1_000)
def is_english(text: str) -> bool:
    """Whether a text is written in English, or too short to tell."""
    letters = [letter for letter in text if letter.isalpha()]
    if 3 * sum(not letter.isascii() for letter in letters) > len(letters):
        return False
    found = [word.casefold() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in found)
    others = sum(word in _OTHERS for word in found)
    return others <= english or others < 2
