-- SPDX-License-Identifier: Apache-2.0
-- What a tag means, in a line (A6). Whoever sees a source with the tag may read it; the words are no part of any search.
CREATE TABLE {schema}.tags (
    tag text PRIMARY KEY CHECK (btrim(tag) <> ''),
    description text NOT NULL CHECK (btrim(description) <> '' AND description !~ '[\n\r]')
);
ALTER TABLE {schema}.tags OWNER TO {writer};
GRANT SELECT ON {schema}.tags TO {reader};
