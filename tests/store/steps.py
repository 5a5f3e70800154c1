"""Steps of an edit of a store, at which tests let something happen."""

from gramian.store._sqlite import SQLiteFile
from gramian.store._writer import Writer

STEPS = ("begun", "changed", "row", "receipt", "commit", "committed", "erased", "seen")


def reached(callback):
    """Call ``callback(step)`` at each step from now on; returns a function that ends that."""
    run, commit, empty = SQLiteFile._run, SQLiteFile._commit, SQLiteFile._empty_log
    write, done = Writer.write, Writer.done

    def run_then(self, statement, *values):
        found = run(self, statement, *values)
        if statement == "BEGIN IMMEDIATE":
            callback("begun")
        elif statement.startswith(("INSERT INTO rows", "UPDATE rows")):
            callback("row")
        elif statement.startswith("INSERT INTO receipts"):
            callback("receipt")
        return found

    def commit_between(self):
        callback("commit")
        commit(self)
        callback("committed")

    def empty_then(self, *connection):
        inside = self._uncleared
        empty(self, *connection)
        if inside:
            callback("erased")

    def changed_then(self, model, edit):
        callback("changed")
        return write(self, model, edit)

    def done_then(self, receipt):
        done(self, receipt)
        callback("seen")

    SQLiteFile._run, SQLiteFile._commit, SQLiteFile._empty_log = (
        run_then,
        commit_between,
        empty_then,
    )
    Writer.write, Writer.done = changed_then, done_then

    def end():
        SQLiteFile._run, SQLiteFile._commit, SQLiteFile._empty_log = run, commit, empty
        Writer.write, Writer.done = write, done

    return end
