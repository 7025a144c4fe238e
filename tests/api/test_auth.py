# SPDX-License-Identifier: Apache-2.0
"""Tokens: who holds one sees what his principal may see, in the corpora that it opens, and nobody else anything."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.tokens import list_tokens, revoke_token
from pincite.api.settings import ServerSettings, default_principal, is_loopback
from pincite.service import Service
from pincite.tokens import PREFIX, new_token, token_hash

HFA = "What does the HFA bond mortgage say about limitation on liability?"
Make = Callable[..., str]
RestOf = Callable[..., Any]


def test_a_token_opens_its_corpora_for_its_principal(make_token: Make, rest_of: RestOf) -> None:
    owner = rest_of(make_token("local-owner", "knowledge", "kb"))
    assert owner.search("knowledge", HFA)["results"]
    assert [it["name"] for it in owner("GET", "/corpora").json()["corpora"]] == ["knowledge", "kb"]
    status = owner("GET", "/status").json()
    assert set(status["corpora"]) == set(status["rerank"]) == {"knowledge", "kb"}
    assert "home" not in status
    assert "where" not in status["database"]


@pytest.mark.parametrize(
    ("method", "path", "given"),
    [
        ("POST", "/search", {"json": {"corpus": "precedent_library", "query": "levy"}}),
        ("POST", "/why", {"json": {"corpus": "precedent_library", "query": "levy", "source": "x"}}),
        ("POST", "/tools/search_precedent_library", {"json": {"query": "levy"}}),
        ("GET", "/show", {"params": {"corpus": "precedent_library", "span_id": "x"}}),
        ("GET", "/audit", {"params": {"corpus": "precedent_library"}}),
        ("GET", "/pipelines/precedent_library.svg", {}),
    ],
)
def test_no_endpoint_reaches_another_corpus(
    make_token: Make, rest_of: RestOf, method: str, path: str, given: dict[str, Any]
) -> None:
    response = rest_of(make_token("local-owner", "knowledge"))(method, path, **given)
    assert (response.status_code, response.json()["type"]) == (403, "urn:pincite:forbidden")
    assert response.json()["detail"].endswith("it opens knowledge")


def test_groups_of_the_principal_decide_what_is_seen(make_token: Make, rest_of: RestOf, service: Service) -> None:
    owner, visitor = rest_of(make_token("local-owner", "knowledge")), rest_of(make_token("visitor", "knowledge"))
    with service.database.admin() as connection:
        rows = connection.execute("SELECT source_id FROM pincite_knowledge.sources WHERE groups <> '{}'").fetchall()
    kept = {str(row[0]) for row in rows}
    assert kept
    hidden = [it for it in owner.search("knowledge", "terms", top_k=100)["results"] if it["source_id"] in kept]
    seen = visitor.search("knowledge", "terms", top_k=100)["results"]
    assert hidden
    assert seen
    assert not {it["source_id"] for it in seen} & kept
    parameters = {"corpus": "knowledge", "span_id": hidden[0]["span_id"]}
    assert owner("GET", "/show", params=parameters).status_code == 200
    assert visitor("GET", "/show", params=parameters).status_code == 404
    assert visitor("GET", "/audit").status_code == 403


def test_once_there_is_a_token_everybody_needs_one(make_token: Make, rest_of: RestOf) -> None:
    open_machine = rest_of(principal="local-owner")
    assert open_machine("GET", "/corpora").status_code == 200
    token = make_token("visitor", "kb")
    for path in ("/corpora", "/status", "/metrics", "/pipelines/kb.svg"):
        refused = open_machine("GET", path)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="pincite"')
        assert rest_of(token)("GET", path).status_code == 200
    for path in ("/health", "/openapi.json"):
        assert open_machine("GET", path).status_code == 200


@pytest.mark.parametrize("value", ["Bearer wrong", "Bearer ", "Basic dXNlcjpwYXNz", "wrong", "Bearer \xe9"])
def test_a_wrong_token_is_refused_even_where_none_is_needed(rest: Any, value: str) -> None:
    response = rest("GET", "/corpora", headers={b"authorization": value.encode("latin-1")})
    assert response.status_code == 401
    assert response.json()["type"] == "urn:pincite:unauthorised"


def test_a_revoked_token_is_worthless_at_once(make_token: Make, rest_of: RestOf, service: Service) -> None:
    kept, lost = rest_of(make_token("visitor", "kb")), rest_of(make_token("visitor", "kb"))
    assert lost("GET", "/corpora").status_code == 200
    revoke_token(service.database, "test-2")
    assert lost("GET", "/corpora").status_code == 401
    assert kept("GET", "/corpora").status_code == 200
    with pytest.raises(BadInputError, match="no token 'test-2' to revoke"):
        revoke_token(service.database, "test-2")
    with pytest.raises(BadInputError, match="already"):
        new_token(service.database, "test-2", "visitor", ["kb"])


def test_a_principal_that_was_removed_sees_nothing(
    make_token: Make, rest_of: RestOf, principals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = rest_of(make_token("visitor", "kb"))
    monkeypatch.delenv("PINCITE_CONFIG")
    response = rest("GET", "/corpora")
    assert response.status_code == 403
    assert "'visitor', whom the configuration lacks" in response.json()["detail"]


def test_beyond_this_machine_a_token_is_always_needed(rest_of: RestOf) -> None:
    wide = ServerSettings(principal="local-owner").listening_on("0.0.0.0")
    assert wide.token_needed
    assert wide.hosts is None
    rest = rest_of(principal="local-owner", token_needed=True)
    assert rest("GET", "/corpora").status_code == 401


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]"])
def test_loopback_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org", ""])
def test_what_others_can_reach_is_no_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example", ""])
def test_a_web_page_cannot_come_under_its_own_name(rest: Any, host: str) -> None:
    response = rest("GET", "/corpora", headers={"Host": host})
    assert (response.status_code, response.json()["type"]) == (421, "urn:pincite:host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_this_machine_is_known_by_its_names(rest: Any, host: str) -> None:
    assert rest("GET", "/corpora", headers={"Host": host}).status_code == 200


def test_only_the_hash_of_a_token_is_stored(make_token: Make, service: Service) -> None:
    token = make_token("visitor", "kb", "knowledge", "kb")
    assert token.startswith(PREFIX)
    assert len(token) >= len(PREFIX) + 43
    with service.database.admin() as connection:
        (row,) = connection.execute("SELECT * FROM pincite.tokens").fetchall()
    assert token not in str(row)
    assert token_hash(token) in row
    (entry,) = list_tokens(service.database)
    assert (entry.name, entry.principal, entry.corpora) == ("test-1", "visitor", ["kb", "knowledge"])


def test_the_application_cannot_read_the_tokens(make_token: Make, service: Service) -> None:
    make_token("visitor", "kb")
    with service.database.sync_pool().connection() as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT * FROM pincite.tokens")
    with (
        service.database.sync_pool().connection() as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        connection.transaction(),
    ):
        connection.execute("SELECT set_config('role', 'pincite_kb_reader', true)")
        connection.execute("SELECT pincite.has_tokens()")


@pytest.mark.parametrize(
    ("name", "principal", "corpora", "says"),
    [
        ("a", "nobody-known", ["kb"], "unknown principal"),
        ("a", "visitor", ["nope"], "unknown corpus"),
        ("a", "visitor", [], "opens no corpus"),
        ("a b", "visitor", ["kb"], "expected up to 63 letters"),
        ("", "visitor", ["kb"], "expected up to 63 letters"),
        ("a\0", "visitor", ["kb"], "expected up to 63 letters"),
        ("\ud800", "visitor", ["kb"], "expected up to 63 letters"),
    ],
)
def test_a_token_for_what_is_not_there_is_not_made(
    service: Service, principals: Path, name: str, principal: str, corpora: list[str], says: str
) -> None:
    with pytest.raises(BadInputError, match=says):
        new_token(service.database, name, principal, corpora)


def test_who_asks_without_a_token_is_said_once(principals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_principal(None) is None
    settings = principals / "corpora.yaml"
    settings.write_text(settings.read_text(encoding="utf-8") + "serve_principal: visitor\n", encoding="utf-8")
    assert default_principal(None) == "visitor"
    monkeypatch.setenv("PINCITE_PRINCIPAL", "local-owner")
    assert default_principal(None) == "local-owner"
    assert default_principal("visitor") == "visitor"
    with pytest.raises(BadInputError, match="unknown principal"):
        default_principal("nobody-known")
