"""Who gets in, and how much they may ask for."""

import base64
import json
import os

import pytest

from gramian.serve import SCOPES, Limits, Tokens, add_token
from tests.serve.conftest import MODEL, samples, tensor

X, Y = samples(2, seed=3)
FREE = {"/v2/health/live", "/v2/health/ready"}


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    """The file, and a token for each scope."""
    path = tmp_path_factory.mktemp("tokens") / "tokens.json"
    return path, {scope: add_token(path, f"{scope}er", [scope]) for scope in SCOPES}


@pytest.fixture
def guarded(serving, tokens):
    with serving(tokens=Tokens.read(tokens[0])) as client:
        yield client


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_every_route_needs_a_token_with_its_scope(guarded, tokens):
    # All paths that the application answers, whatever table they came from.
    paths = {route.path for route in guarded.app.routes if hasattr(route, "methods")} - FREE
    described = guarded.get("/openapi.json", headers=bearer(tokens[1]["admin"])).json()["paths"]
    assert paths == set(described) - FREE
    assert len(paths) >= 15
    wrong = ["", "Bearer", "Bearer nothing", "Basic !", "Digest x", f"bearer{tokens[1]['admin']}"]
    for path in sorted(paths):
        for method, operation in described[path].items():
            scope = operation["description"].removeprefix("Scope: ").removesuffix(".")
            for header in wrong:
                answer = guarded.request(method, path, headers={"Authorization": header})
                assert answer.status_code == 401, path
                assert answer.headers["www-authenticate"].startswith("Bearer")
            assert guarded.request(method, path).status_code == 401
            for name, token in tokens[1].items():
                answer = guarded.request(method, path, headers=bearer(token))
                allowed = name in (scope, "admin")
                assert (answer.status_code != 403) == allowed, (path, name)
                assert answer.status_code != 401
    assert guarded.store.version == 0
    for path in FREE:
        assert guarded.get(path).status_code == 200


def test_a_token_by_basic_authentication(guarded, tokens):
    pair = base64.b64encode(f"anyone:{tokens[1]['predict']}".encode()).decode()
    assert guarded.get("/docs", headers={"Authorization": f"Basic {pair}"}).status_code == 200


def test_the_file_holds_hashes_and_only_its_owner_reads_it(tokens):
    path, made = tokens
    text = path.read_text()
    assert not any(token in text for token in made.values())
    assert os.stat(path).st_mode & 0o077 == 0
    assert len(Tokens.read(path)) == 4
    with pytest.raises(ValueError, match="has a token named 'adminer'"):
        add_token(path, "adminer", ["admin"])
    with pytest.raises(ValueError, match="scopes must be some of"):
        add_token(path, "b", ["everything"])


@pytest.mark.parametrize(
    "content",
    [
        "x",
        "[]",
        '{"tokens": [{}]}',
        json.dumps({"tokens": [{"name": "a", "scopes": ["all"], "sha256": "", "created": ""}]}),
    ],
)
def test_a_bad_file_of_tokens(tmp_path, content):
    path = tmp_path / "tokens.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="token"):
        Tokens.read(path)


def test_pages_of_other_sites_are_refused(client):
    body = {"ids": [1]}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "[evil"},
    ):
        answer = client.post(f"{MODEL}/forget", json=body, headers=headers)
        assert answer.status_code == 403
    assert client.store.version == 0
    own = {"Origin": "http://localhost", "Host": "localhost"}
    assert client.post(f"{MODEL}/forget", json=body, headers=own).status_code == 200


def test_large_bodies(serving):
    big = json.dumps({"inputs": [tensor(X)], "id": "a" * 150}).encode()
    with serving(limits=Limits(body=200)) as client:
        assert client.post(f"{MODEL}/infer", content=big).status_code == 413
        parts = (big[i : i + 50] for i in range(0, len(big), 50))
        answer = client.post(f"{MODEL}/infer", content=parts)  # no length is announced
        assert answer.status_code == 413
        assert "200 bytes" in answer.json()["detail"]


def test_rate(serving, tokens):
    with serving(tokens=Tokens.read(tokens[0]), limits=Limits(rate=3)) as client:
        codes = [client.get(MODEL, headers=bearer(tokens[1]["admin"])).status_code for _ in "abcd"]
        assert codes == [200, 200, 200, 429]
        other = client.get(MODEL, headers=bearer(tokens[1]["predict"]))
        assert other.status_code == 200
        assert [client.get(MODEL).status_code for _ in "abcd"] == [401, 401, 401, 429]


def test_pages_need_nothing_from_elsewhere(client):
    page = client.get("/docs").text
    assert f"{MODEL}/forget" in page
    assert "http" not in page.replace("httpx", "")


@pytest.mark.parametrize("path", ["/", MODEL, "/metrics", "/no-such-path", "/docs"])
def test_no_browser_may_guess_what_an_answer_is(client, path):
    answer = client.get(path)
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_the_schema_is_sound(client):
    schema = client.get("/openapi.json").json()
    text = json.dumps(schema)
    for name in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert name in schema["components"]["schemas"]
    assert schema["paths"][f"{MODEL}/learn"]["post"]["requestBody"]["required"]


def test_names_that_would_not_fit_into_a_path(serving, tmp_path):
    from gramian.serve import create_app

    with pytest.raises(ValueError, match="letters, digits"):
        create_app(None, name="a/b")
