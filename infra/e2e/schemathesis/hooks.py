"""Settings that schemathesis.toml cannot express."""

import itertools

import schemathesis
from hypothesis import strategies as st

TAG = r'(W/)?"[rv]?[!#-~]{0,3}"'
schemathesis.openapi.format("entity-tags", st.just("*") | st.from_regex(rf"{TAG}([ \t]*,[ \t]*{TAG}){{0,2}}", fullmatch=True))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Gives entity tags a format beside their pattern: from the pattern alone, the coverage phase draws none, because of the quotes."""
    for path in raw_schema["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] in ("if-match", "if-none-match"):
                    parameter["schema"]["format"] = "entity-tags"


numbers = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each body of the coverage phase its own Idempotency-Key.

    That phase changes one value at a time and keeps the others. So every policy would have the same key, and the API would
    refuse all but the first because of the key, whatever else they test.
    """
    data = case.meta and case.meta.phase.data
    if getattr(data, "scenario", None) is None or data.parameter == "idempotency-key":
        return
    if case.headers and "idempotency-key" in case.headers:
        case.headers["idempotency-key"] = f"coverage-{next(numbers)}"
