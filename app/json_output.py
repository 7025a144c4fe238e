# SPDX-License-Identifier: Apache-2.0
"""One JSON document on stdout, readable and harmless in a terminal."""

import json
import re
from typing import IO

# Valid in JSON, but obeyed by terminals or unencodable: DEL, the C1 controls, line separators, direction controls,
# lone surrogates.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def write_json(document: object, stream: IO[str]) -> None:
    """
    Write ``document`` as JSON with a newline at its end.

    Letters of all scripts stay themselves; characters that could act on a terminal or cannot be encoded become
    ``\\uXXXX``, which any JSON reader turns back.
    """
    text = json.dumps(document, ensure_ascii=False, indent=2)
    stream.write(_UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n")
