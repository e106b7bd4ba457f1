-- +goose Up
-- The values that an ask was given, as JSON; null without any.
ALTER TABLE fits ADD COLUMN given TEXT;
