-- +goose Up
-- Times are microseconds since 1970 in UTC; JSON is text.
CREATE TABLE studies (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  definition TEXT NOT NULL,
  created BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  trials BIGINT NOT NULL,
  issued BIGINT NOT NULL,
  finished BIGINT NOT NULL,
  fits BIGINT NOT NULL,
  warm BIGINT NOT NULL,
  fit_token TEXT NOT NULL,
  fit_owner TEXT NOT NULL,
  fit_lease BIGINT NOT NULL
);

CREATE TABLE trials (
  study BIGINT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  params TEXT NOT NULL,
  source TEXT NOT NULL,
  state TEXT NOT NULL,
  numbers TEXT,
  failure TEXT NOT NULL,
  message TEXT NOT NULL,
  attempt BIGINT NOT NULL,
  lost BIGINT NOT NULL,
  token TEXT NOT NULL,
  owner TEXT,
  lease BIGINT NOT NULL,
  prediction TEXT,
  warnings TEXT,
  fit BIGINT NOT NULL,
  created BIGINT NOT NULL,
  started BIGINT NOT NULL,
  finished BIGINT NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  asked BIGINT NOT NULL,
  told BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  PRIMARY KEY (study, number)
);
CREATE INDEX trials_by_revision ON trials (study, revision);
CREATE INDEX trials_pending ON trials (study, number) WHERE state = 'pending';

CREATE TABLE fits (
  study BIGINT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  start BIGINT NOT NULL,
  warm TEXT,
  version TEXT NOT NULL,
  kernels TEXT NOT NULL,
  trials BIGINT NOT NULL,
  PRIMARY KEY (study, number)
);

CREATE TABLE events (
  study BIGINT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision BIGINT NOT NULL,
  time BIGINT NOT NULL,
  kind TEXT NOT NULL,
  trial BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (study, revision)
);

CREATE TABLE asks (
  study BIGINT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  ask TEXT NOT NULL,
  n BIGINT NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (study, ask)
);

CREATE TABLE requests (
  study BIGINT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  reply TEXT NOT NULL,
  PRIMARY KEY (study, key)
);

CREATE TABLE measurements (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  study BIGINT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  trial BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  step DOUBLE PRECISION NOT NULL,
  name TEXT NOT NULL,
  value DOUBLE PRECISION NOT NULL
);
CREATE INDEX measurements_by_trial ON measurements (study, trial);
