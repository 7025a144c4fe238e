-- SPDX-License-Identifier: Apache-2.0
-- Filters compare metadata by its text: below a policy an index on that is used only if reading it is LEAKPROOF too. It
-- never fails: what is no object, or has no such key, gives NULL. As in 0004, this takes a superuser.
DO $body$
BEGIN
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        ALTER FUNCTION jsonb_object_field_text(jsonb, text) LEAKPROOF;
    END IF;
END
$body$;
