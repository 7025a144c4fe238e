-- SPDX-License-Identifier: Apache-2.0
-- What the database keeps true by itself, whoever writes.

-- A source is searchable when it is active, has a title, and the metadata that the corpus requires (S1).
CREATE FUNCTION {schema}.source_fill() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    required text[] := (SELECT required_meta FROM {schema}.settings);
BEGIN
    NEW.searchable := NEW.status = 'active' AND btrim(NEW.title) <> '' AND NOT EXISTS (
        SELECT FROM unnest(required) AS key WHERE coalesce(NEW.meta ->> key, '') IN ('', '[]', '{{}}')
    );
    NEW.updated_at := now();
    RETURN NEW;
END
$body$;
CREATE TRIGGER source_fill BEFORE INSERT OR UPDATE ON {schema}.sources
    FOR EACH ROW EXECUTE FUNCTION {schema}.source_fill();

-- Changes of a source reach its spans: whether and to whom they are visible, and the metadata that filters use.
CREATE FUNCTION {schema}.source_spread() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    UPDATE {schema}.spans AS span
    SET meta = (coalesce(span.meta, '{{}}') - ARRAY(SELECT jsonb_object_keys(OLD.meta)))
               || NEW.meta || jsonb_build_object('title', NEW.title)
    WHERE span.source_id = NEW.source_id;
    RETURN NULL;
END
$body$;
CREATE TRIGGER source_spread AFTER UPDATE ON {schema}.sources FOR EACH ROW
    WHEN (
        (OLD.searchable, OLD.groups, OLD.meta, OLD.title) IS DISTINCT FROM
        (NEW.searchable, NEW.groups, NEW.meta, NEW.title)
        OR OLD.text_length > NEW.text_length
    )
    EXECUTE FUNCTION {schema}.source_spread();

-- A document from a stock Haystack writer names no source, or names one in its metadata. It gets a locator there, or a
-- source made from its own content, so that it can be cited like any other span and nothing is lost.
CREATE FUNCTION {schema}.span_adopt(span {schema}.spans) RETURNS {schema}.spans LANGUAGE plpgsql AS $body$
DECLARE
    wanted text := coalesce(span.meta ->> 'source_id', 'document:' || span.id);
    body text := coalesce(span.content, '');
    there record;
    position integer;
BEGIN
    SELECT source_id, kind, number, start_offset, end_offset, page, page_end, section, quote INTO there
    FROM {schema}.spans WHERE id = span.id;
    IF FOUND THEN  -- the insertion will meet the existing row, which keeps its place
        span.source_id := there.source_id;
        RETURN span;
    END IF;
    span.source_id := wanted;
    span.kind := coalesce(span.meta ->> 'kind', 'chunk');
    span.page := coalesce(span.page, (span.meta ->> 'page')::integer, (span.meta ->> 'page_number')::integer);
    span.page_end := coalesce(span.page_end, (span.meta ->> 'page_end')::integer, span.page);
    span.section := coalesce(span.section, span.meta ->> 'section');
    span.quote := coalesce(span.quote, span.meta ->> 'quote');
    SELECT source_id, media_type, text, text_length INTO there
    FROM {schema}.sources WHERE source_id = wanted FOR UPDATE;
    IF NOT FOUND THEN
        position := 0;
        INSERT INTO {schema}.sources (source_id, title, text, media_type, status, groups, meta)
        VALUES (
            wanted,
            coalesce(
                nullif(btrim(span.meta ->> 'title'), ''),
                nullif(regexp_replace(coalesce(span.meta ->> 'file_path', span.meta ->> 'file_name', ''), '^.*/', ''), ''),
                nullif(btrim(left(split_part(btrim(body), E'\n', 1), 120)), ''),
                wanted
            ),
            body,
            'application/x-haystack-document',
            coalesce(span.meta ->> 'status', 'active'),
            CASE jsonb_typeof(span.meta -> 'groups')
                WHEN 'array' THEN ARRAY(SELECT jsonb_array_elements_text(span.meta -> 'groups'))
                WHEN 'string' THEN ARRAY[span.meta ->> 'groups']
                ELSE '{{}}'
            END,
            '{{}}'
        );
    ELSIF there.media_type = 'application/x-haystack-document' THEN
        position := there.text_length + 2;
        UPDATE {schema}.sources SET text = text || E'\n\n' || body WHERE source_id = wanted;
    ELSE
        position := (span.meta ->> 'start')::integer;
        IF position IS NULL OR position < 0 OR substr(there.text, position + 1, char_length(body)) <> body THEN
            position := nullif(strpos(there.text, body), 0) - 1;  -- none: kept, not searchable, and audit lists it
        END IF;
    END IF;
    span.start_offset := position;
    span.end_offset := position + char_length(body);
    span.number := (
        SELECT coalesce(max(number) + 1, 0) FROM {schema}.spans
        WHERE source_id = span.source_id AND kind = span.kind
    );
    RETURN span;
END
$body$;

-- A stock writer that overwrites the content of a document of its own: the text of its source changes with it.
CREATE FUNCTION {schema}.span_rewrite(span {schema}.spans, old_content text) RETURNS {schema}.spans
LANGUAGE plpgsql AS $body$
DECLARE
    body text := coalesce(span.content, '');
    there record;
BEGIN
    SELECT text_length INTO there FROM {schema}.sources
    WHERE source_id = span.source_id AND media_type = 'application/x-haystack-document' FOR UPDATE;
    IF NOT FOUND OR span.start_offset IS NULL THEN
        RETURN span;
    END IF;
    IF span.start_offset = 0 AND span.end_offset = there.text_length THEN
        UPDATE {schema}.sources SET text = body WHERE source_id = span.source_id;
    ELSE  -- other spans count from the start of this text: leave it, and go to its end
        UPDATE {schema}.sources SET text = text || E'\n\n' || body WHERE source_id = span.source_id;
        span.start_offset := there.text_length + 2;
    END IF;
    span.end_offset := span.start_offset + char_length(body);
    RETURN span;
END
$body$;

CREATE FUNCTION {schema}.span_fill() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    source record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.source_id IS NULL THEN
            NEW := {schema}.span_adopt(NEW);
        END IF;
        NEW.content_hash := CASE WHEN NEW.embedding IS NOT NULL THEN md5(NEW.content) END;
    ELSE
        IF (NEW.embedding IS NULL) <> (OLD.embedding IS NULL)
           OR NEW.embedding OPERATOR({vector_schema}.<>) OLD.embedding
           OR NEW.embedding_fingerprint IS DISTINCT FROM OLD.embedding_fingerprint THEN
            NEW.content_hash := CASE WHEN NEW.embedding IS NOT NULL THEN md5(NEW.content) END;
        END IF;
        IF NEW.content IS DISTINCT FROM OLD.content AND NEW.start_offset IS NOT DISTINCT FROM OLD.start_offset THEN
            NEW := {schema}.span_rewrite(NEW, OLD.content);
        END IF;
    END IF;
    SELECT s.visible_to, s.searchable, s.text_length, c.minimum_characters INTO source
    FROM {schema}.sources AS s CROSS JOIN {schema}.settings AS c WHERE s.source_id = NEW.source_id;
    NEW.visible_to := coalesce(source.visible_to, '{{}}');
    NEW.searchable := coalesce(
        source.searchable
        AND NEW.embedding IS NOT NULL
        AND NEW.start_offset >= 0 AND NEW.start_offset < NEW.end_offset AND NEW.end_offset <= source.text_length
        AND (NEW.kind <> 'rule' OR NEW.quote <> '')
        AND (NEW.kind = 'page_image' OR char_length(btrim(NEW.content, E' \t\r\n\f')) >= source.minimum_characters),
        false
    );
    RETURN NEW;
END
$body$;
CREATE TRIGGER span_fill BEFORE INSERT OR UPDATE ON {schema}.spans
    FOR EACH ROW EXECUTE FUNCTION {schema}.span_fill();

-- A source that a stock writer made goes with its last span.
CREATE FUNCTION {schema}.span_gone() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    DELETE FROM {schema}.sources AS source
    USING (SELECT DISTINCT source_id FROM gone) AS touched
    WHERE source.source_id = touched.source_id
      AND source.media_type = 'application/x-haystack-document'
      AND NOT EXISTS (SELECT FROM {schema}.spans AS span WHERE span.source_id = source.source_id);
    RETURN NULL;
END
$body$;
CREATE TRIGGER span_gone AFTER DELETE ON {schema}.spans REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.span_gone();

CREATE FUNCTION {schema}.count_version() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    UPDATE {schema}.corpus_stats SET version = version + 1;
    RETURN NULL;
END
$body$;
CREATE TRIGGER count_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {schema}.sources
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.count_version();
CREATE TRIGGER count_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {schema}.spans
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.count_version();
