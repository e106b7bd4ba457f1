-- +goose Up
-- Replies are deleted when they are old. Replies of version 1 count from the upgrade.
ALTER TABLE requests ADD COLUMN stored BIGINT NOT NULL DEFAULT (EXTRACT(EPOCH FROM now()) * 1000000)::BIGINT;
CREATE INDEX requests_by_time ON requests (stored);
