"""Reads one JSON object {start, rule} a line, and writes what python3-dateutil makes of each: up to 401 starts."""
import itertools
import json
import sys
from datetime import datetime

from dateutil.rrule import rrulestr

for line in sys.stdin:
    asked = json.loads(line)
    rule = rrulestr(asked["rule"], dtstart=datetime.fromisoformat(asked["start"]))
    print(json.dumps([t.isoformat() for t in itertools.islice(rule, 401)]))
