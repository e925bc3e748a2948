create table users (
  id integer generated always as identity primary key,
  email text not null check (email = lower(email) and length(email) between 3 and 64),
  username text not null check (length(username) between 1 and 64),
  fullname text not null default '',
  -- scrypt with its parameters and salt (password.ts); null when the account was made without a password.
  password_hash text,
  parent_id integer references users (id),
  is_admin boolean not null default false,
  is_host_only boolean not null default false,
  ssh_key text not null default '' check (length(ssh_key) <= 4096),
  billaddress_line1 text not null default '',
  billaddress_line2 text not null default '',
  billaddress_city text not null default '',
  billaddress_zip text not null default '',
  billaddress_country text not null default '',
  taxinfo text not null default '',
  balance_threshold_nanos bigint not null default 0 check (balance_threshold_nanos >= 0),
  balance_threshold_enabled boolean not null default false,
  created_at timestamptz not null,
  deleted_at timestamptz
);

create unique index users_email on users (email) where deleted_at is null;
create index users_parent_id on users (parent_id);

-- Secrets are 256 random bits behind a prefix; only their SHA-256 is kept.
create table api_keys (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  name text not null check (length(name) between 1 and 255),
  key_sha256 bytea not null,
  key_prefix text not null,
  -- The permission document; null grants everything that the user may do.
  permissions jsonb,
  key_params text not null default '',
  -- An instance's own key may touch that instance and nothing else.
  instance_id integer,
  created_at timestamptz not null,
  deleted_at timestamptz
);

create unique index api_keys_key_sha256 on api_keys (key_sha256);
create index api_keys_user_id on api_keys (user_id) where deleted_at is null;
create index api_keys_instance_id on api_keys (instance_id) where instance_id is not null;

-- Every process remembers whom a key stands for; these triggers tell all of them when that changes, whoever changes it.
create function notify_api_keys_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys_changed', tg_argv[0] || ':' || old.id);
  return null;
end
$$;

create trigger api_keys_changed after update or delete on api_keys
  for each row execute function notify_api_keys_changed('key');
create trigger api_keys_changed after update of is_admin, deleted_at or delete on users
  for each row execute function notify_api_keys_changed('user');

create table ip_accesses (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  ip_address text not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  request_count bigint not null default 0,
  unique (user_id, ip_address)
);

create table audit_events (
  id bigint generated always as identity primary key,
  user_id integer not null references users (id),
  api_key_id integer,
  ip_address text not null,
  action text not null,
  arguments jsonb not null,
  created_at timestamptz not null
);

create index audit_events_user_id on audit_events (user_id, id);
