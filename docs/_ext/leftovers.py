"""Pages that an earlier build made of names and examples that are gone, and that would stay."""

from pathlib import Path

from public import MODULES, public_names


def remove_leftovers(app, config):
    """Remove generated pages without a source, before pages are looked for."""
    stubs, gallery = Path(app.srcdir, "api/generated"), Path(app.srcdir, "auto_examples")
    names = {*MODULES, *(f"{module}.{name}" for module in MODULES for name in public_names(module))}
    examples = {example.stem for example in Path(app.srcdir, "../examples").glob("plot_*.py")}
    gone = [page for page in stubs.glob("*.rst") if page.stem not in names]
    gone += [page for page in gallery.glob("plot_*.rst") if page.stem not in examples]
    for page in gone:
        page.unlink()


def setup(app):
    app.connect("config-inited", remove_leftovers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
