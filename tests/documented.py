"""The estimator that docs/contributing.md builds, taken from the page itself."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "contributing.md"
BLOCK = r"```python\n(from gramian.core.engines import check_positive.*?)```"
CODE = re.search(BLOCK, PAGE.read_text(), re.S)[1]

exec(compile(CODE, str(PAGE), "exec"))
