-- SPDX-License-Identifier: Apache-2.0
-- Bearer tokens of REST and MCP. Only the SHA-256 of a token is kept: it has 256 random bits, so there is nothing to
-- guess, and a slow or salted hash would protect nothing more. The application may ask who holds a token, and whether
-- there are any; it may not read the table.
CREATE TABLE pincite.tokens (
    name text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9_.@-]{{0,62}}$'),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    principal text NOT NULL,
    corpora text[] NOT NULL CHECK (cardinality(corpora) > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

CREATE FUNCTION pincite.token_holder(wanted bytea) RETURNS TABLE (name text, principal text, corpora text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
AS $body$
    SELECT t.name, t.principal, t.corpora FROM pincite.tokens t WHERE t.token_hash = wanted AND t.revoked_at IS NULL
$body$;

CREATE FUNCTION pincite.has_tokens() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
AS $body$
    SELECT EXISTS (SELECT FROM pincite.tokens WHERE revoked_at IS NULL)
$body$;

REVOKE ALL ON pincite.tokens FROM PUBLIC;
REVOKE ALL ON FUNCTION pincite.token_holder(bytea), pincite.has_tokens() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pincite.token_holder(bytea), pincite.has_tokens() TO pincite_app;
