-- SPDX-License-Identifier: Apache-2.0
-- How this corpus makes words of a text: the same function for what is stored and for what is asked. A text search
-- configuration of the server is inlined, so that it costs nothing; a language that has none brings functions of its
-- own (store/text_search.py). `phrase_of` wants its words side by side, `all_of` all of them anywhere.
CREATE FUNCTION {schema}.words_of(body text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN {words};
CREATE FUNCTION {schema}.phrase_of(body text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN {phrase};
CREATE FUNCTION {schema}.all_of(body text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN {all_words};
-- The form in which titles and questions are likened by trigrams.
CREATE FUNCTION {schema}.plain_of(body text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN {plain};
REVOKE EXECUTE ON FUNCTION {schema}.words_of(text), {schema}.phrase_of(text), {schema}.all_of(text),
    {schema}.plain_of(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {schema}.words_of(text), {schema}.phrase_of(text), {schema}.all_of(text),
    {schema}.plain_of(text) TO {reader}, {writer};

ALTER TABLE {schema}.sources DROP COLUMN identity_tsv;
ALTER TABLE {schema}.sources ADD COLUMN identity_tsv tsvector GENERATED ALWAYS AS (
    setweight({schema}.words_of(left(title, 2000)), 'A') || setweight({schema}.words_of(left(identity, 20000)), 'B')
) STORED;
ALTER TABLE {schema}.sources ALTER COLUMN identity_tsv SET STORAGE MAIN;
CREATE INDEX sources_identity ON {schema}.sources USING gin (identity_tsv);

ALTER TABLE {schema}.sources ADD COLUMN plain_title text GENERATED ALWAYS AS ({schema}.plain_of(title)) STORED;
DROP INDEX {schema}.sources_title_trigram;
CREATE INDEX sources_title_trigram ON {schema}.sources USING gin (plain_title {trigram_schema}.gin_trgm_ops);

-- `init` builds the text index again, as it does whenever it is missing.
ALTER TABLE {schema}.spans DROP COLUMN tsv, DROP COLUMN length;
ALTER TABLE {schema}.spans
    ADD COLUMN tsv tsvector GENERATED ALWAYS AS (
        setweight({schema}.words_of(left(coalesce(section, ''), 2000)), 'A')
        || setweight({schema}.words_of(left(coalesce(statement, ''), 4000)), 'A')
        || setweight({schema}.words_of(left(
            coalesce(meta ->> 'case_name', '') || ' ' || coalesce(meta ->> 'case_number', '') || ' '
            || coalesce(meta ->> 'headnote', '') || ' ' || coalesce(meta ->> 'tags', ''), 4000)), 'B')
        || setweight({schema}.words_of(left(coalesce(content, ''), 200000)), 'D')
    ) STORED,
    ADD COLUMN length integer GENERATED ALWAYS AS (
        length({schema}.words_of(left(coalesce(section, ''), 2000)))
        + length({schema}.words_of(left(coalesce(statement, ''), 4000)))
        + length({schema}.words_of(left(coalesce(content, ''), 200000)))
    ) STORED;
ALTER TABLE {schema}.spans ALTER COLUMN tsv SET STORAGE MAIN;
