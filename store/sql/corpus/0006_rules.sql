-- SPDX-License-Identifier: Apache-2.0
-- Rules (C5): a span of kind `rule` stands at its supporting quote, says what it holds in `statement`, and is searchable
-- only once its review approved it. Kinds of spans and of sources that a corpus does not hold are never searchable.
ALTER TABLE {schema}.settings
    ADD COLUMN minimum_rule_characters integer NOT NULL DEFAULT 20 CHECK (minimum_rule_characters >= 0),
    ADD COLUMN span_kinds text[] NOT NULL DEFAULT '{{chunk,rule,page_image}}',
    ADD COLUMN source_kind text;

ALTER TABLE {schema}.spans
    ADD COLUMN statement text,
    ADD COLUMN review_status text CHECK (review_status IN ('pending', 'approved', 'rejected')),
    ADD CONSTRAINT rule_has_review CHECK ((kind = 'rule') = (review_status IS NOT NULL));

-- What the vector of a span is made from: a rule's statement stands in front of its quote.
CREATE FUNCTION {schema}.embedded_text(statement text, content text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN statement IS NULL THEN content ELSE statement || E'\n' || content END;

-- Found by its words: heading and statement, the metadata that people search by (S3), and the text. Metadata does not
-- count in the length, which stands for how much a span says.
ALTER TABLE {schema}.spans DROP COLUMN tsv, DROP COLUMN length, DROP COLUMN stale;
ALTER TABLE {schema}.spans
    ADD COLUMN tsv tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector({text_search}::regconfig, left(coalesce(section, ''), 2000)), 'A')
        || setweight(to_tsvector({text_search}::regconfig, left(coalesce(statement, ''), 4000)), 'A')
        || setweight(to_tsvector({text_search}::regconfig, left(
            coalesce(meta ->> 'case_name', '') || ' ' || coalesce(meta ->> 'case_number', '') || ' '
            || coalesce(meta ->> 'headnote', '') || ' ' || coalesce(meta ->> 'tags', ''), 4000)), 'B')
        || setweight(to_tsvector({text_search}::regconfig, left(coalesce(content, ''), 200000)), 'D')
    ) STORED,
    ADD COLUMN length integer GENERATED ALWAYS AS (
        length(to_tsvector({text_search}::regconfig, left(coalesce(section, ''), 2000)))
        + length(to_tsvector({text_search}::regconfig, left(coalesce(statement, ''), 4000)))
        + length(to_tsvector({text_search}::regconfig, left(coalesce(content, ''), 200000)))
    ) STORED,
    ADD COLUMN stale boolean GENERATED ALWAYS AS (
        content_hash IS DISTINCT FROM md5({schema}.embedded_text(statement, content))
    ) STORED;
ALTER TABLE {schema}.spans ALTER COLUMN tsv SET STORAGE MAIN;

-- A source of another kind than the corpus is for (a committee's decision among authoritative case law) is kept and not
-- searchable.
CREATE OR REPLACE FUNCTION {schema}.source_fill() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    corpus record;
BEGIN
    SELECT required_meta, source_kind INTO corpus FROM {schema}.settings;
    NEW.searchable := NEW.status = 'active' AND btrim(NEW.title) <> ''
        AND coalesce(NEW.meta ->> 'source_kind' = corpus.source_kind, true)
        AND NOT EXISTS (
            SELECT FROM unnest(corpus.required_meta) AS key WHERE coalesce(NEW.meta ->> key, '') IN ('', '[]', '{{}}')
        );
    NEW.updated_at := now();
    RETURN NEW;
END
$body$;

CREATE OR REPLACE FUNCTION {schema}.span_fill() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    source record;
    stands boolean := true;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.source_id IS NULL THEN
            NEW := {schema}.span_adopt(NEW);
            IF NEW.kind = 'rule' THEN
                NEW.statement := coalesce(NEW.statement, NEW.meta ->> 'statement');
                NEW.quote := coalesce(NEW.quote, NEW.content);
            END IF;
        END IF;
        NEW.content_hash := CASE WHEN NEW.embedding IS NOT NULL
                                 THEN md5({schema}.embedded_text(NEW.statement, NEW.content)) END;
    ELSE
        IF (NEW.embedding IS NULL) <> (OLD.embedding IS NULL)
           OR NEW.embedding OPERATOR({vector_schema}.<>) OLD.embedding
           OR NEW.embedding_fingerprint IS DISTINCT FROM OLD.embedding_fingerprint THEN
            NEW.content_hash := CASE WHEN NEW.embedding IS NOT NULL
                                     THEN md5({schema}.embedded_text(NEW.statement, NEW.content)) END;
        END IF;
        IF NEW.content IS DISTINCT FROM OLD.content AND NEW.start_offset IS NOT DISTINCT FROM OLD.start_offset THEN
            NEW := {schema}.span_rewrite(NEW, OLD.content);
        END IF;
        -- What was approved is this wording; another one waits for its own review.
        IF (NEW.statement, NEW.content) IS DISTINCT FROM (OLD.statement, OLD.content)
           AND NEW.review_status IS NOT DISTINCT FROM OLD.review_status THEN
            NEW.review_status := NULL;
        END IF;
    END IF;
    NEW.review_status := CASE WHEN NEW.kind = 'rule' THEN coalesce(NEW.review_status, 'pending') END;
    SELECT s.visible_to, s.searchable, s.text_length, c.span_kinds,
           CASE NEW.kind WHEN 'rule' THEN c.minimum_rule_characters ELSE c.minimum_characters END AS minimum_characters
    INTO source
    FROM {schema}.sources AS s CROSS JOIN {schema}.settings AS c WHERE s.source_id = NEW.source_id;
    IF NEW.kind = 'rule' THEN
        SELECT NEW.quote = NEW.content AND btrim(NEW.statement) <> ''
               AND substr(text, NEW.start_offset + 1, NEW.end_offset - NEW.start_offset) = NEW.content
        INTO stands FROM {schema}.sources
        WHERE source_id = NEW.source_id AND NEW.start_offset >= 0 AND NEW.end_offset >= NEW.start_offset;
    END IF;
    NEW.visible_to := coalesce(source.visible_to, '{{}}');
    NEW.searchable := coalesce(
        source.searchable
        AND NEW.kind = ANY (source.span_kinds)
        AND NEW.embedding IS NOT NULL
        AND NEW.start_offset >= 0 AND NEW.start_offset < NEW.end_offset AND NEW.end_offset <= source.text_length
        AND (NEW.kind <> 'rule' OR (NEW.review_status = 'approved' AND stands))
        AND (NEW.kind = 'page_image' OR char_length(btrim(NEW.content, E' \t\r\n\f')) >= source.minimum_characters),
        false
    );
    RETURN NEW;
END
$body$;

REVOKE EXECUTE ON FUNCTION {schema}.embedded_text(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {schema}.embedded_text(text, text) TO {writer};
