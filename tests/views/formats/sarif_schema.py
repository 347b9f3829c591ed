"""The part of the schema of SARIF 2.1.0 that our logs use, every object closed: what is not named is refused.

Written after the sections of the standard: 3.13 log, 3.14 run, 3.18 tool, 3.19 component, 3.20 invocation,
3.27 result, 3.28 location, 3.29 physical location, 3.30 region, 3.36 code flow, 3.49 rule, 3.58 notification.
"""

from __future__ import annotations

from typing import Any


def closed(required: str = "", **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def many(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


TEXT = {"type": "string"}
URI = {"type": "string", "format": "uri-reference"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = closed("text", text={"type": "string", "minLength": 1}, markdown=TEXT)
ARTIFACT = closed(uri=URI, uriBaseId=TEXT, index={"type": "integer", "minimum": -1})
REGION = closed("startLine", startLine={"type": "integer", "minimum": 1})
PHYSICAL = closed("artifactLocation", artifactLocation=ARTIFACT, region=REGION)
LOCATION = closed(physicalLocation=PHYSICAL, message=MESSAGE)
FLOW = closed("locations", locations=many(closed(location=LOCATION), 1))
RULE = closed("id", id=TEXT, shortDescription=MESSAGE)
RESULT = closed(
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=MESSAGE,
    locations=many(LOCATION),
    relatedLocations=many(LOCATION),
    codeFlows=many(closed("threadFlows", threadFlows=many(FLOW, 1))),
)
NOTIFICATION = closed("message", message=MESSAGE, level=LEVEL)
INVOCATION = closed(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=many(NOTIFICATION),
)
DRIVER = closed("name", name=TEXT, version=TEXT, semanticVersion=TEXT, rules=many(RULE))
RUN = closed(
    "tool",
    tool=closed("driver", driver=DRIVER),
    invocations=many(INVOCATION),
    originalUriBaseIds={"type": "object", "additionalProperties": ARTIFACT},
    results=many(RESULT),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
)
LOG = closed("version runs", **{"$schema": URI}, version={"const": "2.1.0"}, runs=many(RUN))
