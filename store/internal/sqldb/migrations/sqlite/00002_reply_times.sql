-- +goose Up
-- Replies are deleted when they are old. Replies of version 1 count from the upgrade.
CREATE TABLE replies (
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  reply TEXT NOT NULL,
  stored INTEGER NOT NULL DEFAULT (unixepoch() * 1000000),
  PRIMARY KEY (study, key)
);
INSERT INTO replies (study, key, reply) SELECT study, key, reply FROM requests;
DROP TABLE requests;
ALTER TABLE replies RENAME TO requests;
CREATE INDEX requests_by_time ON requests (stored);
