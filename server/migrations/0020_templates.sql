create table templates (
  id integer generated always as identity primary key,
  creator_id integer not null references users (id),
  hash_id text not null check (hash_id ~ '^[0-9a-f]{32}$'),
  -- Every field that a caller can set and read back, under its public name, with defaults filled in.
  content jsonb not null,
  -- Write-only: it reaches hosts with an order to pull and no response. Emptied on delete.
  docker_login_pass text not null default '',
  is_private boolean not null generated always as ((content -> 'private')::boolean) stored,
  is_recommended boolean not null default false,
  count_created integer not null default 0 check (count_created >= 0),
  recent_create_at timestamptz,
  created_at timestamptz not null,
  deleted_at timestamptz
);

-- Creating the same content twice gives the same template.
create unique index templates_creator_hash on templates (creator_id, hash_id) where deleted_at is null;
create index templates_public on templates (id) where deleted_at is null and not is_private;

-- Everything that a template ever was: instances may still be created from an older hash.
create table template_versions (
  template_id integer not null references templates (id),
  hash_id text not null check (hash_id ~ '^[0-9a-f]{32}$'),
  content jsonb not null,
  docker_login_pass text not null default '',
  created_at timestamptz not null,
  primary key (template_id, hash_id)
);

create index template_versions_hash_id on template_versions (hash_id);

-- The key under which a password enters a template's hash, so that nobody can guess the password from the hash.
create table template_hash_keys (
  id integer primary key check (id = 1),
  key bytea not null check (length(key) >= 32)
);

-- Two random UUIDs hold 244 random bits.
insert into template_hash_keys (id, key)
values (1, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
