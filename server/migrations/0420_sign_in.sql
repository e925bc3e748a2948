-- Keys of sessions: 'session' after a sign-in with a password, 'tfa' after a second factor. They end by themselves.
alter table api_keys
  add column kind text not null default 'api' constraint api_keys_kind check (kind in ('api', 'session', 'tfa')),
  add column expires_at timestamptz,
  -- Where the session began.
  add column ip_address text,
  -- The API key that the session was opened with; a session does not outlive it.
  add column opened_by_key_id integer references api_keys (id),
  -- Destructive operations need a session that a second factor opened.
  add column demands_tfa boolean not null default false,
  -- A session ends, and an API key does not.
  add constraint api_keys_session_ends check ((kind = 'api') = (expires_at is null));

-- Since when the account has a second factor; null without one.
alter table users add column tfa_enabled_at timestamptz;

create trigger api_keys_changed_by_tfa after update of tfa_enabled_at on users
  for each row execute function notify_api_keys_changed('user');

-- Attempts to sign in with a password: by name, by network, and by both together, as hashes. A name need not exist.
create table sign_in_attempts (
  bucket_sha256 bytea primary key,
  attempt_count integer not null check (attempt_count > 0),
  window_ends_at timestamptz not null
);

create index sign_in_attempts_window_ends_at on sign_in_attempts (window_ends_at);
