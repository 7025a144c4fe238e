-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL evaluates an operator below a row level security policy, and so with its index, only if the function is
-- LEAKPROOF. None of these tells anything about its arguments by an error. Marking takes a superuser; without one the
-- legs still give the same rows, only slower, and `pincite status` says so.
DO $body$
DECLARE
    target regprocedure;
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RETURN;
    END IF;
    FOR target IN
        SELECT DISTINCT oprcode::regprocedure
        FROM pg_operator
        WHERE (oprname = '@@' AND oprleft IN ('tsvector'::regtype, 'tsquery'::regtype)
               AND oprright IN ('tsvector'::regtype, 'tsquery'::regtype))
           OR (oprname IN ('%', '<%', '%>', '<<%', '%>>', '~~', '~~*')
               AND oprleft = 'text'::regtype AND oprright = 'text'::regtype)
           OR (oprname IN ('&&', '@>') AND oprleft = 'anyarray'::regtype)
    LOOP
        EXECUTE format('ALTER FUNCTION %s LEAKPROOF', target);
    END LOOP;
END
$body$;
