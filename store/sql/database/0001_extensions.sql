-- SPDX-License-Identifier: Apache-2.0
-- What Pincite needs from the server. A missing one is reported before this file runs, with the command to install it.
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;

DO $body$
BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'unaccent') THEN
        CREATE EXTENSION IF NOT EXISTS unaccent;
    END IF;
END
$body$;
