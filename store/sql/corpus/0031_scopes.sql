-- SPDX-License-Identifier: Apache-2.0
-- Which scopes a search of this corpus must give (C3). `init` makes the policies that ask for them, and makes them anew
-- when the configuration changes.
ALTER TABLE {schema}.settings ADD COLUMN required_scopes text[] NOT NULL DEFAULT '{{}}';
