-- SPDX-License-Identifier: Apache-2.0
-- One schema and two roles per corpus (C1). `reader` is the role of every search, `writer` that of ingestion.
DO $body$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {reader_name}) THEN
        CREATE ROLE {reader} NOLOGIN NOSUPERUSER NOINHERIT NOBYPASSRLS;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {writer_name}) THEN
        CREATE ROLE {writer} NOLOGIN NOSUPERUSER NOINHERIT NOBYPASSRLS;
    END IF;
END
$body$;

GRANT {reader}, {writer} TO pincite_app;
-- A role switch is checked against the login, so the owner needs the membership as well.
GRANT {reader}, {writer} TO CURRENT_USER;

CREATE SCHEMA {schema};
GRANT USAGE ON SCHEMA {schema} TO {reader}, {writer};

-- One row: the rules of this corpus for what may be found (S1).
CREATE TABLE {schema}.settings (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    minimum_characters integer NOT NULL DEFAULT 50 CHECK (minimum_characters >= 0),
    required_meta text[] NOT NULL DEFAULT '{{}}'
);
INSERT INTO {schema}.settings DEFAULT VALUES;

-- One row a document. `groups` are the user's; `visible_to` is what the policy compares with: a source without groups
-- is public, and '*' stands for the principal who sees all, so that one indexable condition covers every case.
CREATE TABLE {schema}.sources (
    source_id text PRIMARY KEY,
    title text NOT NULL,
    text text NOT NULL,
    text_length integer GENERATED ALWAYS AS (char_length(text)) STORED,
    content_hash text,
    media_type text,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'draft', 'superseded', 'withdrawn')),
    groups text[] NOT NULL DEFAULT '{{}}' CHECK (NOT '*' = ANY (groups)),
    visible_to text[] GENERATED ALWAYS AS (
        CASE WHEN groups = '{{}}' THEN '{{*,public}}'::text[] ELSE groups || '*'::text END
    ) STORED,
    meta jsonb NOT NULL DEFAULT '{{}}',
    identity text NOT NULL DEFAULT '',
    identity_tsv tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector({text_search}::regconfig, left(title, 2000)), 'A')
        || setweight(to_tsvector({text_search}::regconfig, left(identity, 20000)), 'B')
    ) STORED,
    searchable boolean NOT NULL DEFAULT false,
    updated_at timestamptz NOT NULL DEFAULT now()
);
-- Offsets are cut out of long texts all the time: uncompressed, PostgreSQL need not unpack the whole to get a piece.
ALTER TABLE {schema}.sources ALTER COLUMN text SET STORAGE EXTERNAL;
-- The title leg asks this one several times a row.
ALTER TABLE {schema}.sources ALTER COLUMN identity_tsv SET STORAGE MAIN;

-- A superset of the columns of Haystack's PgvectorDocumentStore. `content_hash` is that of the content which the
-- embedding was made from; `stale` follows by itself, whoever changes the content (S3).
CREATE TABLE {schema}.spans (
    id text PRIMARY KEY,
    embedding {vector_schema}.vector({dimension}),
    content text,
    blob_data bytea,
    blob_meta jsonb,
    blob_mime_type varchar(255),
    meta jsonb,
    source_id text NOT NULL REFERENCES {schema}.sources ON DELETE CASCADE,
    kind text NOT NULL DEFAULT 'chunk' CHECK (kind IN ('chunk', 'rule', 'page_image')),
    number integer NOT NULL DEFAULT 0,
    start_offset integer,
    end_offset integer,
    page integer,
    page_end integer,
    section text,
    quote text,
    parent_start integer,
    parent_end integer,
    tsv tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector({text_search}::regconfig, left(coalesce(section, ''), 2000)), 'A')
        || setweight(to_tsvector({text_search}::regconfig, left(coalesce(content, ''), 200000)), 'D')
    ) STORED,
    length integer GENERATED ALWAYS AS (
        length(to_tsvector({text_search}::regconfig, left(coalesce(section, ''), 2000)))
        + length(to_tsvector({text_search}::regconfig, left(coalesce(content, ''), 200000)))
    ) STORED,
    embedding_fingerprint text,
    content_hash text,
    stale boolean GENERATED ALWAYS AS (content_hash IS DISTINCT FROM md5(content)) STORED,
    visible_to text[] NOT NULL,
    searchable boolean NOT NULL
);
ALTER TABLE {schema}.spans ALTER COLUMN tsv SET STORAGE MAIN;

-- Document frequencies of words: in spans, and in the titles and identities of sources.
CREATE TABLE {schema}.span_lexemes (lexeme text PRIMARY KEY, df integer NOT NULL);
CREATE TABLE {schema}.identity_lexemes (lexeme text PRIMARY KEY, df integer NOT NULL);
CREATE INDEX identity_lexemes_trigram ON {schema}.identity_lexemes USING gin (lexeme {trigram_schema}.gin_trgm_ops);

-- One row. `version` grows with each write, in the same transaction: the key of every cache.
CREATE TABLE {schema}.corpus_stats (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    spans integer NOT NULL DEFAULT 0,
    sources integer NOT NULL DEFAULT 0,
    average_length double precision NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0
);
INSERT INTO {schema}.corpus_stats DEFAULT VALUES;
