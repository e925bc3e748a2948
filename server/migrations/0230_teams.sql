-- A team is an account like any other, with its own credit, instances and keys, but no person signs in as it: its members
-- act for it with keys of theirs, within what their role allows.
alter table users add column is_team boolean not null default false;

create table team_roles (
  id integer generated always as identity primary key,
  team_id integer not null references users (id),
  name text not null constraint team_roles_name_length check (length(name) between 1 and 64),
  identifier text not null constraint team_roles_identifier_form check (identifier ~ '^[a-z0-9_]{1,80}$'),
  -- The permission document; null for a default role, whose permissions are known by its identifier.
  permissions jsonb,
  created_at timestamptz not null,
  constraint team_roles_default check ((permissions is null) = (identifier in ('owner', 'manager', 'member'))),
  constraint team_roles_of_team unique (team_id, id)
);

create unique index team_roles_name on team_roles (team_id, lower(name));
create unique index team_roles_identifier on team_roles (team_id, identifier);

create table team_members (
  team_id integer not null references users (id),
  member_id integer not null references users (id),
  role_id integer not null,
  joined_at timestamptz not null,
  primary key (team_id, member_id),
  constraint team_members_role foreign key (team_id, role_id) references team_roles (team_id, id),
  constraint team_members_person check (team_id <> member_id)
);

create index team_members_member_id on team_members (member_id);

-- By whom a key acts for the account that it belongs to; null when the account is a person's own, or for an instance's key.
alter table api_keys add column member_id integer references users (id);
alter table api_keys add constraint api_keys_member check (
  member_id is null or (instance_id is null and member_id <> user_id)
);

-- What a remembered key may do depends on its holder's role, too.
create function notify_team_rights_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys_changed', 'user:' || old.team_id);
  return null;
end
$$;

create trigger team_rights_changed after update or delete on team_members
  for each row execute function notify_team_rights_changed();
create trigger team_rights_changed after update or delete on team_roles
  for each row execute function notify_team_rights_changed();

-- The team keys of a person die with the person's account.
create function notify_member_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys_changed', 'user:' || m.team_id) from team_members m where m.member_id = old.id;
  return null;
end
$$;

create trigger member_changed after update of deleted_at on users
  for each row execute function notify_member_changed();

create table teams (
  id integer primary key references users (id),
  name text not null constraint teams_name_length check (length(name) between 1 and 64),
  -- The key that made the team. It was its founder's own, and becomes that again when the founder deletes the team.
  founding_key_id integer not null references api_keys (id),
  created_at timestamptz not null,
  deleted_at timestamptz,
  -- Its last owner: credit that still comes back to it is theirs.
  deleted_by integer references users (id),
  constraint teams_deleted check ((deleted_at is null) = (deleted_by is null))
);

create unique index teams_name on teams (lower(name)) where deleted_at is null;
create index teams_deleted_at on teams (deleted_at) where deleted_at is not null;

-- Open invitations: an accepted one is a member, and the audit log keeps how it came to that.
create table team_invitations (
  id integer generated always as identity primary key,
  team_id integer not null references teams (id),
  role_id integer not null references team_roles (id),
  email text not null check (email = lower(email) and length(email) between 3 and 64),
  token_sha256 bytea not null,
  invited_by integer not null references users (id),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at)
);

create unique index team_invitations_token on team_invitations (token_sha256);
-- One for each address: a later invitation takes the place of an earlier one.
create unique index team_invitations_email on team_invitations (team_id, email);
