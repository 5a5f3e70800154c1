"""Which data sets there are, where each comes from, and what its content must hash to."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn import datasets as sklearn_datasets

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"


@dataclass(frozen=True)
class Original:
    """Public text files, one sample a row, whose rows in order are the data set.

    Parameters
    ----------
    urls : tuple of str
    delimiter : str or None
        None splits at white space.
    target : {0, -1}
        The target's column; the others are features.
    codes : mapping
        What words stand for; anything else must read as a number.
    n_train : int, optional
        The first so many rows are the official training part, the others the test part.
    """

    urls: tuple[str, ...]
    delimiter: str | None = ","
    target: int = -1
    codes: Mapping[str, float] = field(default_factory=dict)
    n_train: int | None = None


@dataclass(frozen=True)
class FileSet:
    """A data set kept in a file ``<stem>.npz``.

    ``sha256`` is that of the parsed arrays (`evidence.datasets._files.content_sha256`), so it holds
    for the archive and for the originals alike.
    """

    stem: str
    sha256: str
    description: str
    original: Original | None = None
    regression: bool = False
    feature_names: tuple[str, ...] | None = None
    target_names: tuple[str, ...] | None = None


SKLEARN: dict[str, tuple[Callable[[], Any], str]] = {
    "breast_cancer": (sklearn_datasets.load_breast_cancer, "Wisconsin diagnostic breast cancer"),
    "diabetes": (sklearn_datasets.load_diabetes, "Diabetes progression after a year (regression)"),
    "digits": (sklearn_datasets.load_digits, "Handwritten digits, the test part of optdigits"),
    "iris": (sklearn_datasets.load_iris, "Fisher's iris, as Fisher printed it"),
    "wine": (sklearn_datasets.load_wine, "Wine cultivars by chemical analysis"),
}

_IDA_SHA256 = {
    "banana": "de03f84d2b8c34afed34dd42da92593cb666a2ffb26568d2f7b774a8e3a1dab3",
    "breast_cancer": "d5dd4df28e025caee0dcf68d57781b35e9c71f776be005f6970e18b01f73e6ac",
    "diabetis": "e7ba7f3b4b44ee6b7893d22b21c04aafc1bcc02ffd56e573b15f612b35161a75",
    "flare_solar": "3a1c5e58825607422c69e469eb17c28f2fd9de9e6e7ec727cb5ed80f9203893b",
    "german": "9c389abbf04880adb9f5e2c5ac45d94ed31f7ab3039e160851bf5426e3bc0c50",
    "heart": "a716c0dc5492ab665ea9e3aef198e73529bdc91612c251f897a27c9f3e881ea6",
    "image": "11b67cd189e0d191a09f2ade618a499d68e951c8821eefe4fdfa1f5c30c95ce9",
    "ringnorm": "0f3e14f7203a695cf5adf0b7ab479e2308892fb0a18277ea200e29918c7d3e69",
    "splice": "378bc3595938ab8a559d7dc316d1b118237342492e96dd6dc7777c239a57a604",
    "thyroid": "2234d243015621c1f676d852ef8f04bbe267c0ba77e9c9cddafbf2ebb86dc4ab",
    "titanic": "b2b9cb100ad179b635b4218a7a4ec519c2cf4b57c6e533e23165d71f13d04bb3",
    "twonorm": "863f3b3b94ed2eb3fb7f2db035accb05af55e87e4670edde44b271c5702defb6",
    "waveform": "6784c4c6b580b64b4303244e31babe0e745a3eee5f8350ddca46f4c04a9c00c5",
}

_ABALONE_FEATURES = ("sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell")
_BOSTON_FEATURES = (
    *("crim", "zn", "indus", "chas", "nox", "rm", "age", "dis"),
    *("rad", "tax", "ptratio", "b", "lstat"),
)
_IRIS_CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
_LETTERS = tuple(string.ascii_uppercase)

FILES: dict[str, FileSet] = {
    f"ida_{name}": FileSet(
        f"ida_{name}", sha256, f"{name} of the Rätsch (IDA) benchmark, in its scaling, labels −1/+1"
    )
    for name, sha256 in _IDA_SHA256.items()
}
FILES |= {
    "usps": FileSet(
        "usps",
        "5dc93a0bb1693f9f08668aff9f3dee08a6e14df5323c3cd3488b627f23a65fca",
        "USPS handwritten digits, 16×16 pixels in [−1, 1]",
    ),
    "letter": FileSet(
        "letter",
        "c37ed6801316476012c2e109cc2589b990c060e839515acfb587cf0825477d61",
        "Letter recognition, labels 0 (A) to 25 (Z); the first 16,000 rows train",
        Original(
            (UCI + "letter-recognition/letter-recognition.data",),
            target=0,
            codes={letter: k for k, letter in enumerate(_LETTERS)},
            n_train=16000,
        ),
        target_names=_LETTERS,
    ),
    "optdigits": FileSet(
        "optdigits",
        "2603213af50e78187a376761c74c3b1502170fa9d1b3fc50439653d9bd9a0dcd",
        "Optical recognition of handwritten digits, 8×8 counts of 0 to 16",
        Original((UCI + "optdigits/optdigits.tra", UCI + "optdigits/optdigits.tes"), n_train=3823),
    ),
    "pendigits": FileSet(
        "pendigits",
        "d3ef3a78a05f45d02de156d1bf6df65af4d054cdc4548005802a849eff28da10",
        "Pen-based recognition of handwritten digits, 8 points of 0 to 100",
        Original((UCI + "pendigits/pendigits.tra", UCI + "pendigits/pendigits.tes"), n_train=7494),
    ),
    "satimage": FileSet(
        "satimage",
        "1c91860206048f784134ce1fb7aad23dd24777e410062c0b835d052ef69f0132",
        "Landsat 3×3 neighbourhoods in four bands, labels 1 to 5 and 7",
        Original(
            (UCI + "statlog/satimage/sat.trn", UCI + "statlog/satimage/sat.tst"),
            delimiter=None,
            n_train=4435,
        ),
    ),
    "ann_thyroid": FileSet(
        "ann_thyroid",
        "00846a8eac37c071faf7f47212e23f8408d79201d46928db51fef477f3114b40",
        "Thyroid disease prepared for neural networks, labels 1 to 3",
        Original(
            (UCI + "thyroid-disease/ann-train.data", UCI + "thyroid-disease/ann-test.data"),
            delimiter=None,
            n_train=3772,
        ),
    ),
    "iris_uci": FileSet(
        "iris",
        "fd9aff3c845d3e8bbd5374e71ab6ae72b1e39ef15fb8033789c5d012f5b316d5",
        "Iris as the UCI file has it: rows 35 and 38 differ from Fisher's",
        Original(
            (UCI + "iris/iris.data",), codes={name: k for k, name in enumerate(_IRIS_CLASSES)}
        ),
        feature_names=("sepal length", "sepal width", "petal length", "petal width"),
        target_names=_IRIS_CLASSES,
    ),
    "abalone": FileSet(
        "abalone",
        "31b7618aacfc8d0592a557087c9c4d2fbdea3907d3ab0b4003de6acdd7466ed0",
        "Rings of abalone shells (regression); sex is 1 male, 2 female, 3 infant",
        Original((UCI + "abalone/abalone.data",), codes={"M": 1, "F": 2, "I": 3}),
        regression=True,
        feature_names=_ABALONE_FEATURES,
        target_names=("rings",),
    ),
    "boston": FileSet(
        "boston",
        "e19324dec4a7bd96b1c49a00cf4d70e81f18d8f29ad307123f12890972161375",
        "Boston house prices, uncorrected (regression), kept to check published results; its "
        "column b encodes race",
        Original((UCI + "housing/housing.data",), delimiter=None),
        regression=True,
        feature_names=_BOSTON_FEATURES,
        target_names=("medv",),
    ),
    "thrombin": FileSet(
        "thrombin_train",
        "727a310c518502e4a20597106e678d0d9eacbe8e7819619957f2918e230ca24e",
        "KDD Cup 2001 thrombin, training part: 139,351 binary features (CSR), +1 active",
    ),
    "thrombin_first8000": FileSet(
        "thrombin_train_first8000",
        "43d885146586ca428f797ce895d0c84ff635beb9fc32f8f4612fd3a90fe53b97",
        "The first 8,000 features of thrombin (CSR), as in kim2006, section 6.3",
    ),
}
