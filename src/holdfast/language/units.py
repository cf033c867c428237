"""The units of quantities, each with its kind and its size in the base unit. Only a table."""

from __future__ import annotations

SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, YEAR = 1.0, 60.0, 3600.0, 86400.0, 604800.0, 2592000.0, 31536000.0

# A month has 30 days here; comparisons of months with days need some tolerance.
_TIME = {
    "millisecond milliseconds ms msec": 0.001,
    "second seconds s sec secs": SECOND,
    "minute minutes min mins": MINUTE,
    "hour hours h hr hrs": HOUR,
    "day days d": DAY,
    "night nights": DAY,
    "morning mornings evening evenings afternoon afternoons": DAY,
    "week weeks wk wks": WEEK,
    "fortnight fortnights": 2 * WEEK,
    "month months": MONTH,
    "quarter quarters": 3 * MONTH,
    "year years yr yrs": YEAR,
    "decade decades": 10 * YEAR,
}
_SIZE = {
    "b byte bytes": 1.0,
    "kb kib kilobyte kilobytes": 2.0**10,
    "mb mib megabyte megabytes meg megs": 2.0**20,
    "gb gib gigabyte gigabytes gig gigs": 2.0**30,
    "tb tib terabyte terabytes": 2.0**40,
}
_LENGTH = {
    "mm millimetre millimetres millimeter millimeters": 0.001,
    "cm centimetre centimetres centimeter centimeters": 0.01,
    "m metre metres meter meters": 1.0,
    "km kilometre kilometres kilometer kilometers": 1000.0,
    "mile miles": 1609.34,
    "foot feet ft": 0.3048,
    "inch inches": 0.0254,
}
_MASS = {
    "g gram grams": 1.0,
    "kg kilo kilos kilogram kilograms": 1000.0,
    "lb lbs": 453.59,
    "ton tons tonne tonnes": 1e6,
}
_VOLUME = {"ml millilitre millilitres": 0.001, "cl": 0.01, "litre litres liter liters": 1.0}
_RATE = {
    "kbit kbits kbps kilobit kilobits": 1e3,
    "mbit mbits mbps megabit megabits": 1e6,
    "gbit gbits gbps gigabit gigabits": 1e9,
}
_POWER = {"watt watts": 1.0, "kw kilowatt kilowatts": 1000.0}
_SHARE = {"% percent pct": 1.0}
_MONEY = {
    "eur": "eur euro euros €",
    "usd": "usd dollar dollars $",
    "gbp": "gbp pounds quid £",
    "chf": "chf francs",
}


def _table() -> dict[str, tuple[str, float]]:
    kinds = {"time": _TIME, "size": _SIZE, "length": _LENGTH, "mass": _MASS, "volume": _VOLUME}
    kinds |= {"rate": _RATE, "power": _POWER, "share": _SHARE}
    table = {
        name: (kind, size)
        for kind, units in kinds.items()
        for names, size in units.items()
        for name in names.split()
    }
    return table | {name: (currency, 1.0) for currency, names in _MONEY.items() for name in names.split()}


#: Kind and size by the name of the unit, in lower case.
UNITS = _table()
#: Units of time that may follow "every" or "a", written out.
SPANS = tuple(name for names in _TIME for name in names.split() if len(name) > 3 or name == "day")
#: Adverbs that name a period.
ADVERBS = {
    "hourly": HOUR,
    "daily": DAY,
    "nightly": DAY,
    "overnight": DAY,
    "weekly": WEEK,
    "fortnightly": 2 * WEEK,
    "biweekly": 2 * WEEK,
    "monthly": MONTH,
    "quarterly": 3 * MONTH,
    "yearly": YEAR,
    "annually": YEAR,
    "annual": YEAR,
}
