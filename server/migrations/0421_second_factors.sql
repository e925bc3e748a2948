create table tfa_methods (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  method text not null check (method in ('totp', 'sms')),
  label text not null default '' check (length(label) <= 30),
  -- The secret of an authenticator app, or the phone number; encrypted.
  sealed_secret text not null,
  is_primary boolean not null,
  -- The last 30-second step whose code was taken: it and earlier ones are refused from then on.
  last_step bigint,
  created_at timestamptz not null,
  last_used_at timestamptz,
  deleted_at timestamptz
);

create index tfa_methods_user_id on tfa_methods (user_id) where deleted_at is null;
create unique index tfa_methods_primary on tfa_methods (user_id) where is_primary and deleted_at is null;

-- Codes for the day on which the phone is lost, each good once.
create table tfa_backup_codes (
  id bigint generated always as identity primary key,
  user_id integer not null references users (id),
  code_hmac bytea not null,
  created_at timestamptz not null,
  used_at timestamptz,
  deleted_at timestamptz
);

create unique index tfa_backup_codes_live on tfa_backup_codes (user_id, code_hmac)
  where used_at is null and deleted_at is null;

-- A sign-in that waits for its second factor, or a code that was sent for another purpose.
create table tfa_challenges (
  id bigint generated always as identity primary key,
  user_id integer not null references users (id),
  purpose text not null check (purpose in ('sign_in', 'verify', 'authorize', 'phone')),
  secret_sha256 bytea not null unique,
  -- The way of the code; null while a sign-in has not chosen one. No code is sent for 'totp'.
  channel text check (channel in ('totp', 'sms', 'email')),
  method_id integer references tfa_methods (id),
  -- A phone number that is no method yet; encrypted.
  sealed_phone text,
  code_hmac bytea,
  code_sent_at timestamptz,
  code_expires_at timestamptz,
  -- The team for which the sign-in acts.
  team_id integer references users (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create index tfa_challenges_user_id on tfa_challenges (user_id);
create index tfa_challenges_expires_at on tfa_challenges (expires_at);

-- Wrong codes since the last right one, by factor: 'totp:7', 'sms:8', 'email', 'backup', 'setup', 'phone'.
create table tfa_locks (
  user_id integer not null references users (id),
  factor text not null,
  fail_count integer not null check (fail_count >= 0),
  lock_count integer not null default 0,
  locked_until timestamptz,
  primary key (user_id, factor)
);

-- An app whose first code has not been seen yet.
create table tfa_setups (
  user_id integer primary key references users (id),
  sealed_secret text not null,
  expires_at timestamptz not null
);

-- The time until which an account may add methods.
create table tfa_authorizations (
  user_id integer primary key references users (id),
  expires_at timestamptz not null
);

-- When codes were sent, by account and by a keyed hash of the mailbox or phone.
create table tfa_sends (
  id bigint generated always as identity primary key,
  user_id integer not null references users (id),
  target_hmac bytea not null,
  sent_at timestamptz not null
);

create index tfa_sends_target on tfa_sends (target_hmac, sent_at);
create index tfa_sends_user_id on tfa_sends (user_id, sent_at);
