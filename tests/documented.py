"""The estimator that docs/contributing.md builds, taken from the page itself."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "contributing.md"
CODE = re.search(r"```python\n(from gramian.core.estimators import.*?)```", PAGE.read_text(), re.S)[
    1
]

exec(compile(CODE, str(PAGE), "exec"))
