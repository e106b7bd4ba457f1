-- +goose Up
-- Times are microseconds since 1970 in UTC; JSON is text.
CREATE TABLE studies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL,
  created INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  issued INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  fits INTEGER NOT NULL,
  warm INTEGER NOT NULL,
  fit_token TEXT NOT NULL,
  fit_owner TEXT NOT NULL,
  fit_lease INTEGER NOT NULL
);

CREATE TABLE trials (
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  params TEXT NOT NULL,
  source TEXT NOT NULL,
  state TEXT NOT NULL,
  numbers TEXT,
  failure TEXT NOT NULL,
  message TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  token TEXT NOT NULL,
  owner TEXT,
  lease INTEGER NOT NULL,
  prediction TEXT,
  warnings TEXT,
  fit INTEGER NOT NULL,
  created INTEGER NOT NULL,
  started INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  seconds REAL NOT NULL,
  asked INTEGER NOT NULL,
  told INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (study, number)
);
CREATE INDEX trials_by_revision ON trials (study, revision);
CREATE INDEX trials_pending ON trials (study, number) WHERE state = 'pending';

CREATE TABLE fits (
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  start INTEGER NOT NULL,
  warm TEXT,
  version TEXT NOT NULL,
  kernels TEXT NOT NULL,
  trials INTEGER NOT NULL,
  PRIMARY KEY (study, number)
);

CREATE TABLE events (
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision INTEGER NOT NULL,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  trial INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (study, revision)
);

CREATE TABLE asks (
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  ask TEXT NOT NULL,
  n INTEGER NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (study, ask)
);

CREATE TABLE requests (
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  reply TEXT NOT NULL,
  PRIMARY KEY (study, key)
);

CREATE TABLE measurements (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  trial INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  step REAL NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL
);
CREATE INDEX measurements_by_trial ON measurements (study, trial);
