-- Sign-ins that were sent to the issuer and have not come back, each good once. The rest of it is in the browser's cookie.
create table sso_attempts (
  state_sha256 bytea primary key,
  -- The address to which the issuer sends the browser back.
  redirect_uri text not null,
  expires_at timestamptz not null
);

create index sso_attempts_expires_at on sso_attempts (expires_at);

-- The accounts of people whom an issuer knows. Issuer and subject alone name a person: addresses change hands.
create table sso_identities (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  issuer text not null,
  subject text not null check (length(subject) between 1 and 255),
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  unique (issuer, subject),
  unique (user_id, issuer)
);

-- Roles that a group of the issuer gave: what a group no longer gives is taken away, and nothing else.
create table sso_grants (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- The team whose member the account became; null for the right of an administrator.
  team_id integer references users (id),
  created_at timestamptz not null,
  unique nulls not distinct (user_id, team_id)
);
