-- SPDX-License-Identifier: Apache-2.0
-- Which corpora exist, and with what they were made. The schema and its migrations table are there already.
CREATE TABLE pincite.corpora (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_]{{0,40}}$'),
    dimension integer NOT NULL CHECK (dimension > 0),
    text_search text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

GRANT USAGE ON SCHEMA pincite TO pincite_app;
GRANT SELECT ON pincite.corpora, pincite.migrations TO pincite_app;
