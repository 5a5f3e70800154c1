"""The methods of a store that change nothing: predictions, receipts, proofs, copies."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from gramian.files import Proof, Receipt, StrPath, save
from gramian.store._audit import AuditReport, Check, audit_backend
from gramian.store._errors import StoreReplacedError
from gramian.store._following import LEASE, Following
from gramian.store._index import hashed_id
from gramian.store._synced import SyncedModel

T = TypeVar("T")


class StoreAnswers(SyncedModel):
    """The methods of a store that read."""

    @property
    def epoch(self) -> int | None:
        """Number of the keyring's epoch; None without a keyring: copies are not reached."""
        return self._last.epoch

    @property
    def model(self) -> Any:
        """A copy of the model as of the present version, which later edits do not change.

        Predictions from it need no lock. What needs the factor of the matrix (leave-one-out, drift)
        is faster by `read`.
        """
        view = self._view
        if view is not None and view[0] == self.version:
            return view[1]
        with self._lock:
            if self._view is None or self._view[0] != self.version:
                self._view = self.version, deepcopy(self._present())
            return self._view[1]

    def read(self, question: Callable[[Any], T]) -> T:
        """``question(model)``, asked of the live model between two edits; it must not change it."""
        with self._lock:
            return question(self._present())

    def predict(self, X: Any) -> Any:
        """Predicted class or number of each row."""
        return self.model.predict(X)

    def decision_function(self, X: Any) -> Any:
        """Decision values of each row."""
        return self.model.decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of each row."""
        return self.read(lambda model: model.predict_proba(X))

    def predict_set(self, X: Any, confidence_level: float, **options: Any) -> Any:
        """The labels that cannot be excluded, as the model says; it takes the options."""
        return self.read(lambda model: model.predict_set(X, confidence_level, **options))

    def predict_interval(self, X: Any, confidence_level: float, width: str = "auto") -> Any:
        """The interval of each row's target, as the model says."""
        return self.read(lambda model: model.predict_interval(X, confidence_level, width=width))

    def refresh(self) -> bool:
        """Bring the store up to date with edits of other processes; returns whether it changed."""
        with self._lock:
            self._present()
            return self._follow()

    def follow(
        self,
        *,
        name: str | None = None,
        seconds: float = LEASE,
        on_change: Callable[[int], None] | None = None,
    ) -> Following:
        """Apply the edits of other processes as they are made, from now on, in the background.

        On a server, this process gets a lease as one that answers: receipts of erasures are open
        until it has confirmed their version. Close what this returns before the store.

        Parameters
        ----------
        name : str, optional
            Of the lease; by default host, process and a random number.
        seconds : float
            How long a lease lasts. If the server is out of reach for so long, this process must
            not answer: `Following.answering` is False.
        on_change : callable, optional
            Called with each new version before it is confirmed, edits of this process included:
            when it returns, readers see that version.
        """
        database = self._database
        twins = (database.twin(), database.twin()) if database.remote else None
        return Following(self, twins, name, seconds, on_change)

    def receipts(self) -> list[Receipt]:
        """All receipts up to the present version, the oldest first."""
        with self._lock:
            contents = self._database.receipts()
        return [Receipt.read(content) for content in contents][: self.version + 1]

    def find(self, id: int | str) -> list[Receipt]:
        """The receipts that are about the row with this id."""
        wanted = hashed_id(self._index.id_key, id)
        return [receipt for receipt in self.receipts() if wanted in receipt.ids]

    def proof(self, number: int) -> Proof:
        """A receipt with what shows that it is in the chain of the last one.

        It can be checked without the store: `gramian.files.Proof.check`, ``gramian verify``.
        """
        receipts = self.receipts()
        if not 0 <= number < len(receipts):
            raise ValueError(f"there is no receipt {number}; the last is {len(receipts) - 1}.")
        head = receipts[-1]
        with self._lock:
            path = self._index.tree.path(number, len(receipts) - 1) if number < self.version else ()
        return Proof(receipts[number], path, head)

    def open_receipts(self) -> set[int]:
        """Numbers of receipts that a process which answers has not confirmed yet.

        A receipt is closed when no process that may answer holds an older version.
        """
        with self._lock:
            behind = [lease.version for lease in self._database.leases() if lease.seconds > 0]
        return set(range(min(behind, default=self.version) + 1, self.version + 1))

    def audit(self, public_key: Any = None, refit: bool = False) -> AuditReport:
        """Check the file, the receipts, their signatures, the rows, the settings and the model.

        The model is built from the rows, O(n³).

        Parameters
        ----------
        public_key : Ed25519 public key, its PEM bytes, path or 64 hexadecimal digits, optional
            The key that should have signed the receipts. Without it, signatures are checked against
            the key that the store itself names.
        refit : bool
            Whether to compare the live model, too, with one that is built from scratch.
        """
        with self._lock:
            self._present()
            twin = self._backend.twin()
        try:
            self._database.check_identity()
            return audit_backend(twin, public_key, self.model if refit else None, self._anchor)
        except StoreReplacedError as error:
            return AuditReport((Check("file", False, str(error)),))
        finally:
            twin.close()

    # -- files ----------------------------------------------------------------------------------

    def export(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Write the model as it is now to a model file, as `gramian.save` does."""
        self.read(lambda model: save(model, path, overwrite=overwrite))

    def backup(self, path: StrPath) -> None:
        """Write a copy of the present version to a new file, while others edit and read.

        With a keyring, the copy can be opened with the keyring as it is then: rows that are erased
        later are gone from it, too. Without one, it holds every row that the store holds now.
        """
        self._database.backup(os.path.abspath(path))
