"""What schemathesis.toml cannot say."""

import itertools

import schemathesis
from hypothesis import strategies as st

TAG = r'(W/)?"[rv]?[!#-~]{0,3}"'
schemathesis.openapi.format("entity-tags", st.just("*") | st.from_regex(rf"{TAG}([ \t]*,[ \t]*{TAG}){{0,2}}", fullmatch=True))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Draws entity tags by a format beside their pattern: for one that wants a quote, the coverage phase draws nothing."""
    for path in raw_schema["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] in ("if-match", "if-none-match"):
                    parameter["schema"]["format"] = "entity-tags"


numbers = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each body of the coverage phase a key of its own.

    That phase changes one value at a time and keeps the rest: one Idempotency-Key would come with every policy, and each
    but the first would be refused for the key alone, whatever else it was to show.
    """
    data = case.meta and case.meta.phase.data
    if getattr(data, "scenario", None) is None or data.parameter == "idempotency-key":
        return
    if case.headers and "idempotency-key" in case.headers:
        case.headers["idempotency-key"] = f"coverage-{next(numbers)}"
