"""A receipt as a letter of one page to the person who asked, in plain words."""

from __future__ import annotations

import json

from gramian.cli._html import document, escape, heading, pairs, paragraph
from gramian.files import Proof, Receipt

_STYLE = """
body { font: 16px/1.55 Georgia, serif; max-width: 40rem; margin: 3rem auto; padding: 0 1.5rem;
       color: #111; background: #fff; }
h1 { font-size: 1.3rem; } td { padding: .15rem 1.2rem .15rem 0; vertical-align: top; }
.code { font: .8rem/1.4 ui-monospace, monospace; } p, td { overflow-wrap: anywhere; }
.right { text-align: right; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { body { margin: 0 auto; } details { display: none; } }
"""
_TITLES = {
    "forget": "Your data has been erased",
    "erase": "Your data has been erased",
    "withhold": "Your data is out of use and will be erased",
    "relabel": "Your data has been corrected",
}


def letter(proof: Proof, *, pending: bool, person: str | None, office: str | None) -> str:
    """The page."""
    receipt = proof.receipt
    title = _TITLES.get(receipt.action, f"Receipt of {receipt.action}")
    key = receipt.public_key
    signer, and_who = (f" --public-key {key}", ", and who signed it") if key else ("", "")
    body = [
        paragraph(receipt.time[:10], "right"),
        paragraph(office) if office else "",
        heading(title, 1),
        paragraph(f"Dear {person or 'Sir or Madam'},"),
        *map(paragraph, _sentences(receipt, pending)),
        pairs(_facts(proof)),
        "<p>How to check this: keep the file that comes with this letter, or the text below. "
        f'<span class="code">gramian verify FILE{escape(signer)}</span> checks that the receipt is '
        f"in the chain of the last receipt named above{and_who}. "
        "The format is public, and anyone can write a program that checks it.</p>",
        "<details><summary>The receipt and its proof</summary>"
        f'<pre class="code">{escape(json.dumps(proof.as_dict(), indent=1))}</pre></details>',
    ]
    return document(title, _STYLE, body)


def _sentences(receipt: Receipt, pending: bool) -> list[str]:
    one = receipt.count == 1
    count = "one record" if one else f"{receipt.count} records"
    when = f"on {receipt.time[:10]} at {receipt.time[11:16]} UTC"
    if receipt.action == "withhold":
        first = (
            f"{count.capitalize()} of yours left our prediction model {when}. No answer uses "
            f"{'it' if one else 'them'} any more. {'It is' if one else 'They are'} kept for a "
            f"waiting period, in case the request was a mistake, and then erased; you get another "
            f"letter then."
        )
    elif receipt.action in ("forget", "erase"):
        was = "was" if one else "were"
        first = f"{count.capitalize()} of yours {was} erased from our prediction model {when}."
    else:
        first = f"The action “{receipt.action}” was done {when}, on {count}."
    return [first, *_about_model(receipt), _about_copies(receipt, pending)]


def _about_model(receipt: Receipt) -> list[str]:
    if receipt.action not in ("forget", "withhold"):
        return []
    sentences = (
        "The model is now the one that it would be if it had never seen your data, up to the "
        "rounding of the last digits."
    )
    if receipt.verified:
        sentences += (
            f" This was checked by building it anew from the other records: the largest difference "
            f"was {receipt.difference:.0e} of a value."
        )
    if receipt.chosen_on_data:
        names = ", ".join(receipt.chosen_on_data)
        sentences += f" Some settings were chosen while your data was there and were kept: {names}."
    return [sentences]


def _about_copies(receipt: Receipt, pending: bool) -> str:
    sealed = receipt.epoch is not None
    if receipt.action == "withhold":
        until = "its key is destroyed then" if sealed else "they are deleted"
        sentences = f"Backups of the model still hold your data, until {until}."
    elif sealed:
        sentences = (
            "Backups of the model made before hold your data in a form that nobody can read any "
            "more: the key was destroyed."
        )
    else:
        sentences = "Backups of the model made before still hold your data until they are deleted."
    return f"{sentences} {'Some servers have yet to confirm this.' if pending else ''}".strip()


def _facts(proof: Proof) -> dict[str, str]:
    receipt, head = proof.receipt, proof.head
    return {
        "receipt": f"{receipt.number} of {head.number}",
        "records before and after": f"{receipt.n_before} and {receipt.n_after}",
        "done by": receipt.user,
        "hash of this receipt": receipt.hash,
        "hash of the last receipt": head.hash,
        "signed by": receipt.public_key or "nobody",
    }
