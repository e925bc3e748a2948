-- Public keys that a user wants in every instance made from now on.
create table ssh_keys (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- One line of type, body and comment, as ssh-public-key.ts writes it.
  public_key text not null check (length(public_key) >= 1 and length(public_key) <= 16384 and public_key !~ '[\r\n]'),
  -- Of type and body alone: the same key under another comment is the same key.
  fingerprint text not null,
  created_at timestamptz not null,
  deleted_at timestamptz
);

create unique index ssh_keys_fingerprint on ssh_keys (user_id, fingerprint) where deleted_at is null;

-- Who may log in to an instance: a copy, so that later changes of the account leave running instances alone. An id is
-- the account key's where it is one of those, else another number of the same sequence, so that it names one key.
create table instance_ssh_keys (
  instance_id integer not null references instances (id),
  ssh_key_id integer not null,
  public_key text not null check (length(public_key) >= 1 and length(public_key) <= 16384 and public_key !~ '[\r\n]'),
  fingerprint text not null,
  created_at timestamptz not null,
  primary key (instance_id, ssh_key_id),
  unique (instance_id, fingerprint)
);

-- Environment variables of every container of the user; values are sealed (base/seal.ts).
create table account_secrets (
  user_id integer not null references users (id),
  name text not null check (name ~ '^[A-Z_][A-Z0-9_]{0,254}$'),
  sealed_value text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (user_id, name)
);
