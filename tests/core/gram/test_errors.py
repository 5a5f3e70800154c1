"""The error of a matrix that is not positive definite: what it says, and to whom."""

import pickle

from gramian.core.gram import NotPositiveDefiniteError


def test_message_names_the_sample_and_the_remedy():
    error = NotPositiveDefiniteError(57, 3.1e-17, 1.3e-14)
    assert str(error) == (
        "factoring failed at sample 57: its Schur complement is 3.1e-17, not above 1.3e-14. For "
        "this kernel it repeats or nearly repeats other samples; raise `ridge` (lower `C`) or "
        "drop it."
    )


def test_message_tells_new_samples_from_those_held():
    error = NotPositiveDefiniteError(0, 0.0, 0.0, new=True)
    assert str(error).startswith("factoring failed at new sample 0: ")


def test_message_names_the_call():
    error = NotPositiveDefiniteError(0, 0.0, 0.0)
    error.asked = "forget"
    assert str(error).startswith("forget failed at sample 0: ")


def test_error_comes_back_from_another_process():
    error = NotPositiveDefiniteError(3, -1.0, 0.5, new=True)
    error.asked = "partial_fit"
    twin = pickle.loads(pickle.dumps(error))
    assert (type(twin), str(twin), twin.position) == (type(error), str(error), 3)
