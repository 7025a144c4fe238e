-- SPDX-License-Identifier: Apache-2.0
-- The role of every query before it takes the role of a corpus. It owns nothing and inherits nothing, so a query that
-- forgets its corpus is refused (C1). On the embedded server it logs in; elsewhere the login of the URL switches to it.
DO $body$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pincite_app') THEN
        CREATE ROLE pincite_app {login} NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS;
    END IF;
END
$body$;

GRANT pincite_app TO CURRENT_USER;
