# SPDX-License-Identifier: Apache-2.0
"""Who is calling: one gate for REST and for MCP over HTTP, before anything else looks at a request."""

from collections.abc import Callable
from http import HTTPStatus

from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import PinciteError
from haystack_integrations.document_stores.pincite.execution import ALL_GROUPS
from haystack_integrations.document_stores.pincite.tokens import any_token, token_holder
from pincite.api.problems import RequestError, problem_of
from pincite.pipelines.corpora import load_corpora
from pincite.response import SearchResponse
from pincite.tokens import Caller, token_hash
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

CALLER = "pincite.caller"
"""Key of the ASGI scope that holds the :class:`Caller`."""

NO_PRINCIPAL = (
    "nobody asks, so nothing may be seen: send a token (pincite token add), or name a principal for requests without "
    "one (pincite serve --principal, or serve_principal in corpora.yaml)"
)

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class CallerGate:
    """
    ASGI middleware: finds the caller of each request, or refuses it.

    A token is asked for whenever one exists, and always where the server listens beyond this machine. Otherwise a
    request without one comes from ``principal``, and from nobody if there is none.

    :param database: gives the database; asked per request, since a configuration may change it.
    :param principal: who asks without a token, where none is needed.
    :param token_needed: also while no token exists.
    :param open_paths: answered to everybody.
    :param hosts: the only names that a request may call this server by; ``None`` for any. On loopback this keeps a web
        page from reaching the server under a name of its own (DNS rebinding).
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        database: Callable[[], Database],
        principal: str | None = None,
        token_needed: bool = False,
        open_paths: frozenset[str] = frozenset(),
        hosts: frozenset[str] | None = None,
    ) -> None:
        self.app = app
        self.database = database
        self.principal = principal
        self.token_needed = token_needed
        self.open_paths = open_paths
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            try:
                self._check_host(headers.get("host", ""))
                if scope["path"] not in self.open_paths:
                    scope[CALLER] = await self._caller(headers.get("authorization"))
            except PinciteError as error:
                await problem_of(error)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check_host(self, host: str) -> None:
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if self.hosts is not None and name.lower() not in self.hosts:
            allowed = ", ".join(sorted(self.hosts))
            raise RequestError(
                HTTPStatus.MISDIRECTED_REQUEST, "host", f"this server is not {host!r:.80}: it answers to {allowed}"
            )

    async def _caller(self, authorization: str | None) -> Caller:
        if authorization is None:
            if self.token_needed or await any_token(self.database()):
                raise _unauthorised("no token: send 'Authorization: Bearer TOKEN'")
            return Caller(self.principal)
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise _unauthorised("authorization is by token: send 'Authorization: Bearer TOKEN'")
        holder = await token_holder(self.database(), token_hash(token.strip()))
        if holder is None:
            raise _unauthorised("this token is unknown or was revoked; see: pincite token list", error="invalid_token")
        if holder.principal not in load_corpora().principals:
            raise RequestError(
                HTTPStatus.FORBIDDEN,
                "forbidden",
                f"token '{holder.name}' stands for principal '{holder.principal}', whom the configuration lacks",
            )
        return Caller(holder.principal, frozenset(holder.corpora), holder.name)


def _unauthorised(detail: str, error: str | None = None) -> RequestError:
    challenge = 'Bearer realm="pincite"' + (f', error="{error}"' if error else "")
    return RequestError(HTTPStatus.UNAUTHORIZED, "unauthorised", detail, {"WWW-Authenticate": challenge})


def checked_corpus(caller: Caller, corpus: str) -> str:
    """The corpus, if the caller's token opens it; refused with 403 otherwise."""
    if not caller.may_use(corpus):
        opened = ", ".join(sorted(caller.corpora or ()))
        raise RequestError(
            HTTPStatus.FORBIDDEN, "forbidden", f"token '{caller.token}' does not open {corpus!r:.80}; it opens {opened}"
        )
    return corpus


def sees_all_groups(caller: Caller) -> bool:
    """Whether the caller's principal sees what is shared with any group."""
    return caller.principal is not None and ALL_GROUPS in load_corpora().principal(caller.principal).groups


def checked_all_groups(caller: Caller, why: str = "an audit names sources of all groups") -> None:
    """Refuse with 403 who does not see all groups: an audit names sources whoever they are for."""
    if not sees_all_groups(caller):
        raise RequestError(HTTPStatus.FORBIDDEN, "forbidden", f"{why}: ask as a principal who sees them")


def with_hint(answer: SearchResponse, caller: Caller) -> SearchResponse:
    """The answer to a search; to nobody, who gets no rows, with a note that says why (C3)."""
    if caller.principal is not None:
        return answer
    return {**answer, "degraded": [*answer["degraded"], {"stage": "request", "reason": NO_PRINCIPAL}]}
