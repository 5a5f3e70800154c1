"""Who gets in, and how much they may ask for."""

import base64
import json
import os
from datetime import timedelta

import pytest
from starlette.routing import Route
from starlette.websockets import WebSocketDisconnect

from gramian.serve import SCOPES, Limits, Tokens, _tokens, add_token, create_app
from gramian.serve._edits import Learn, blocks
from tests.serve.conftest import MODEL, TestClient, samples, tensor

X, Y = samples(2, seed=3)
FREE = {"/v2/health/live", "/v2/health/ready"}


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    """The file, and a token for each scope."""
    path = tmp_path_factory.mktemp("tokens") / "tokens.json"
    return path, {scope: add_token(path, f"{scope}er", [scope]) for scope in SCOPES}


@pytest.fixture
def guarded(serving, tokens):
    with serving(tokens=Tokens(tokens[0])) as client:
        yield client


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_every_route_needs_a_token_with_its_scope(guarded, tokens):
    # All paths that the application answers, whatever table they came from.
    routes = [route for route in guarded.app.routes if isinstance(route, Route)]
    paths = {route.path for route in routes} - FREE
    described = guarded.get("/openapi.json", headers=bearer(tokens[1]["admin"])).json()["paths"]
    assert paths == set(described) - FREE
    assert len(paths) >= 15
    wrong = ["", "Bearer", "Bearer nothing", "Basic !", "Digest x", f"bearer{tokens[1]['admin']}"]
    wrong += ["Basic é".encode(), "Bearer é".encode("latin-1"), b"Basic \xff\xfe"]
    for template in sorted(paths):
        path = template.format(model="m")
        for method, operation in described[template].items():
            scope = operation["description"].removeprefix("Scope: ").removesuffix(".")
            for header in wrong:
                answer = guarded.request(method, path, headers={"Authorization": header})
                assert answer.status_code == 401, path
                assert answer.headers["www-authenticate"].startswith("Bearer")
                if header:
                    assert "not one of the service, or its time is over" in answer.json()["detail"]
            answer = guarded.request(method, path)
            assert (answer.status_code, answer.json()["detail"][:17]) == (401, "a token is needed")
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
    assert len(Tokens(path)) == 4
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
        Tokens(path)


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


FOREIGN = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}


def test_requests_that_other_sites_cause_are_refused(client):
    for site in ("cross-site", "same-site"):
        for path in ("/", "/metrics", f"{MODEL}/loo", f"{MODEL}/doubt", MODEL, "/docs"):
            answer = client.get(path, headers={**FOREIGN, "Sec-Fetch-Site": site})
            assert answer.status_code == 403, path
    assert client.post(f"{MODEL}/forget", json={"ids": [1]}, headers=FOREIGN).status_code == 403
    assert client.get("/", headers=LINK).status_code == 200  # a link to the page
    assert client.get(f"{MODEL}/loo", headers=LINK).status_code == 403
    assert client.post("/", headers=LINK).status_code == 403
    for own in ("same-origin", "none"):
        assert client.get(f"{MODEL}/loo", headers={"Sec-Fetch-Site": own}).status_code == 200
    assert client.store.version == 0


def test_an_origin_has_a_scheme(client):
    for origin, status in (("foo://localhost", 403), ("https://localhost", 200)):
        answer = client.get(f"{MODEL}/loo", headers={"Origin": origin})
        assert answer.status_code == status


def test_what_is_costly_is_no_get(client):
    for route in ("audit", "audit?refit=true", "projection"):
        assert client.get(f"{MODEL}/{route}").status_code == 404
    assert client.post(f"{MODEL}/audit").json()["passed"]


def test_large_bodies(serving):
    big = json.dumps({"inputs": [tensor(X)], "id": "a" * 150}).encode()
    with serving(limits=Limits(body=200)) as client:
        assert client.post(f"{MODEL}/infer", content=big).status_code == 413
        parts = (big[i : i + 50] for i in range(0, len(big), 50))
        answer = client.post(f"{MODEL}/infer", content=parts)  # no length is announced
        assert answer.status_code == 413
        assert "200 bytes" in answer.json()["detail"]


def test_rate(serving, tokens):
    with serving(tokens=Tokens(tokens[0]), limits=Limits(rate=3)) as client:
        codes = [client.get(MODEL, headers=bearer(tokens[1]["admin"])).status_code for _ in "abcd"]
        assert codes == [200, 200, 200, 429]
        other = client.get(MODEL, headers=bearer(tokens[1]["predict"]))
        assert other.status_code == 200
        assert [client.get(MODEL).status_code for _ in "abcd"] == [401, 401, 401, 429]


def test_pages_need_nothing_from_elsewhere(client):
    page = client.get("/docs").text
    assert "/v2/models/{model}/forget" in page
    assert "http" not in page.replace("httpx", "")


@pytest.mark.parametrize("path", ["/", MODEL, "/metrics", "/no-such-path", "/docs"])
def test_no_browser_may_guess_what_an_answer_is(client, path):
    answer = client.get(path)
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
    assert answer.headers.get_list("cross-origin-resource-policy") == ["same-origin"]


def test_the_schema_is_sound(client):
    schema = client.get("/openapi.json").json()
    text = json.dumps(schema)
    for name in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert name in schema["components"]["schemas"]
    assert schema["paths"]["/v2/models/{model}/learn"]["post"]["requestBody"]["required"]


# -- tokens come and go ---------------------------------------------------------------------------


def test_receipts_name_the_token(serving, tmp_path):
    file = tmp_path / "tokens.json"
    tokens = {name: add_token(file, name, ["learn", "forget"]) for name in ("office", "lab")}
    body = {"inputs": [tensor(X)], "targets": Y.tolist()}
    with serving(tokens=Tokens(file)) as client:
        for name, token in tokens.items():
            learned = client.post(f"{MODEL}/learn", json=body, headers=bearer(token)).json()
            assert learned["receipt"]["user"] == name
        ids = {"ids": learned["ids"]}
        gone = client.post(f"{MODEL}/forget", json=ids, headers=bearer(tokens["office"])).json()
        assert gone["receipt"]["user"] == "office"
        assert [receipt.user for receipt in client.store.receipts()][1:] == [*tokens, "office"]
    with serving(path="b.store") as client:  # without tokens, who runs the service
        made = client.post(f"{MODEL}/forget", json={"ids": [1]}).json()["receipt"]
        assert made["user"] == client.store.receipts()[0].user


def test_edits_of_two_tokens_are_no_block():
    by = [Learn(X, Y, None, user=user) for user in ("office", "office", "lab")]
    assert [len(block) for block in blocks([(edit, None) for edit in by], most=100)] == [2, 1]
    assert Learn.merged(by[:2]).user == "office"


def test_a_token_expires(tmp_path, monkeypatch):
    file = tmp_path / "tokens.json"
    token = add_token(file, "guest", ["predict"], days=2)
    known, now = Tokens(file), _tokens._now()
    for days, good in ((0, True), (1.9, True), (2.1, False)):
        monkeypatch.setattr(_tokens, "_now", lambda: now + timedelta(days=days))  # noqa: B023
        assert (known.find(f"Bearer {token}") is not None) == good
    with pytest.raises(ValueError, match="days must be between"):
        add_token(file, "other", ["predict"], days=0)


def test_a_changed_file_of_tokens_counts_at_once(serving, tmp_path, monkeypatch, caplog):
    file = tmp_path / "tokens.json"
    first = add_token(file, "first", ["admin"])
    with serving(tokens=Tokens(file)) as client:
        assert client.get(MODEL, headers=bearer(first)).status_code == 200
        monkeypatch.setattr(_tokens, "_CHECK_EVERY", 0.0)
        second = add_token(file, "second", ["admin"])
        assert client.get(MODEL, headers=bearer(second)).status_code == 200
        content = json.loads(file.read_text())
        content["tokens"] = content["tokens"][1:]
        file.write_text(json.dumps(content))
        assert client.get(MODEL, headers=bearer(first)).status_code == 401
        file.write_text("{")  # half written: those that were read stay
        assert client.get(MODEL, headers=bearer(second)).status_code == 200
        assert "the tokens stay as they were" in caplog.text
        file.unlink()
        assert client.get(MODEL, headers=bearer(second)).status_code == 200


def test_a_page_stops_watching_when_its_token_is_withdrawn(serving, tmp_path, monkeypatch):
    monkeypatch.setattr(_tokens, "_CHECK_EVERY", 0.0)
    file = tmp_path / "tokens.json"
    token = add_token(file, "watcher", ["learn"])
    with (
        serving(tokens=Tokens(file)) as client,
        client.websocket_connect(f"ws://localhost{MODEL}/watch") as socket,
    ):
        socket.send_json({"token": token})
        kinds = [socket.receive_json()["kind"] for _ in "ab"]
        assert kinds == ["welcome", "reading"]
        file.write_text('{"tokens": []}')
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()


def test_names_that_would_not_fit_into_a_path():
    with pytest.raises(ValueError, match="letters, digits"):
        create_app({"a/b": None})


@pytest.mark.parametrize("path", ["/a/v2/health/ready", "/a/a/v2/health/ready"])
def test_a_proxy_may_take_its_path_away_or_leave_it(serving, path):
    """The server puts the path of the proxy in front of what comes."""
    with serving() as client:
        below = TestClient(client.app, "http://localhost", root_path="/a")
        assert below.get(path).json()["ready"]
        assert below.get("/b/v2/health/ready").status_code == 404
