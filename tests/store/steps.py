"""Steps of an edit of a store, at which tests let something happen."""

from gramian.store._keyring import FileKeyring
from gramian.store._sqlite import SQLiteFile
from gramian.store._writer import Writer

try:
    from gramian.store._postgres import Postgres
except ModuleNotFoundError:  # psycopg is not there
    Postgres = None

STEPS = ("begun", "changed", "row", "receipt", "commit", "committed", "erased", "seen")


def reached(callback):
    """Call ``callback(step)`` at each step from now on; returns a function that ends that."""
    changed = []

    def patch(owner, name, new):
        changed.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)

    def told(old):
        def run(self, statement, *values):
            found = old(self, statement, *values)
            words = statement.replace("{0}.", "").split()
            if words[:2] == ["BEGIN", "IMMEDIATE"] or "pg_advisory_xact_lock(%s::bigint" in words:
                callback("begun")
            elif words[:3] == ["INSERT", "INTO", "rows"] or words[:2] == ["UPDATE", "rows"]:
                callback("row")
            elif words[:3] == ["INSERT", "INTO", "receipts"]:
                callback("receipt")
            return found

        return run

    def around(old):
        def commit(self):
            inside = self._version
            if inside:
                callback("commit")
            old(self)
            if inside:
                callback("committed")

        return commit

    def after(old, step, when=lambda self: True):
        def work(self, *values):
            inside = when(self)
            found = old(self, *values)
            if inside:
                callback(step)
            return found

        return work

    patch(SQLiteFile, "_run", told(SQLiteFile._run))
    patch(SQLiteFile, "_commit", around(SQLiteFile._commit))
    emptied = after(SQLiteFile._empty_log, "erased", lambda self: self._uncleared)
    patch(SQLiteFile, "_empty_log", emptied)
    if Postgres is not None:
        patch(Postgres, "_run", told(Postgres._run))
        patch(Postgres, "_commit", around(Postgres._commit))
    patch(FileKeyring, "finish", after(FileKeyring.finish, "erased"))
    write = Writer.write

    def changed_then(self, model, edit):
        callback("changed")
        return write(self, model, edit)

    patch(Writer, "write", changed_then)
    patch(Writer, "done", after(Writer.done, "seen"))

    def end():
        for owner, name, old in changed:
            setattr(owner, name, old)

    return end
