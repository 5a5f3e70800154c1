"""The front door: help at once, exit codes, errors in one line."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import gramian as package
from gramian.cli import main
from gramian.cli._app import app
from gramian.cli._options import NumberOr

COMMANDS = [
    "fit",
    "predict",
    "learn",
    "forget",
    "doubt",
    "relabel",
    "verify",
    "inspect",
    "export",
    "report",
]
OTHERS = ["audit", "store", "serve", "token", "play"]
HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "rich", "matplotlib")


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_loads_no_heavy_package(words):
    code = f"""
import sys
sys.argv[1:] = {words!r}
from gramian.cli import main
try:
    main()
finally:
    print([name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"


def test_predict_loads_only_what_it_needs(model):
    """Beyond what scikit-learn itself imports."""
    idle = ("matplotlib", "torch", "dask", "river", "onnx", "starlette", "sklearn.model_selection")
    ours = tuple(f"gramian.{layer}" for layer in ("plots", "data", "datasets", "export", "serve"))
    code = f"""
import sys
from gramian.cli._app import app
app(["predict", {model!r}, "new.csv", "-o", "out.csv"], obj=False, standalone_mode=False)
print([name for name in {idle + ours} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_module_runs_as_a_program():
    command = [sys.executable, "-m", "gramian.cli", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"gramian {package.__version__}\n"


def test_commands_are_listed_in_the_order_of_use():
    lines = CliRunner().invoke(app, ["--help"]).output.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in lines] == [*COMMANDS, *OTHERS]


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        "audit",
        "token",
        *(f"store {task}" for task in ("create", "receipts", "compact", "export")),
    ],
)
def test_every_command_has_help_and_json(command):
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert "--json" in result.output


def test_without_click_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "click", None)
    monkeypatch.delitem(sys.modules, "gramian.cli._app")
    with pytest.raises(SystemExit, match=r"pip install \"gramian\[cli\]\""):
        main()


def test_unknown_command_and_missing_file_are_usage_errors(gramian):
    assert "No such command" in gramian("fly", code=2).output
    assert "does not exist" in gramian("inspect", "nowhere.gram", code=2).output
    assert (
        "Folder 'no' does not exist"
        in gramian("fit", "train.csv", "--target", "animal", "-o", "no/model.gram", code=2).output
    )


def test_traceback_on_demand(folder):
    words = ["inspect", "train.csv"]
    assert CliRunner().invoke(app, words).exception.__class__ is SystemExit
    shown = CliRunner().invoke(app, ["--traceback", *words])
    assert isinstance(shown.exception, package.files.ModelFileError)


@pytest.mark.parametrize(
    ("text", "value"), [("loo", "loo"), ("0.5", 0.5), ("1e-3", 1e-3), (2.0, 2.0)]
)
def test_number_or_word(text, value):
    assert NumberOr("loo").convert(text, None, None) == value


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "lou"])
def test_neither_number_nor_word(text):
    with pytest.raises(click.BadParameter, match="is neither a number > 0 nor loo"):
        NumberOr("loo").convert(text, None, None)
