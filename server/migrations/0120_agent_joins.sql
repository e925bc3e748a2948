-- A join token lets one machine of its user join, once. The agent exchanges it for a credential of its own.
create table join_tokens (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  name text not null check (length(name) <= 255),
  token_sha256 bytea not null unique,
  -- Made by the operator: what joins with it needs no verification by others.
  is_trusted boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  used_at timestamptz,
  -- Which request used it, so that the same one gets its answer again when the first was lost.
  used_by_sha256 bytea,
  agent_credential_id integer references agent_credentials (id),
  check ((used_at is null) = (used_by_sha256 is null) and (used_at is null) = (agent_credential_id is null))
);

create index join_tokens_user_id on join_tokens (user_id);

-- The machine that a credential was made for when it joined. Both are null for the agent that a server starts itself.
alter table agent_credentials
  add column fingerprint text,
  add column host_key text,
  add constraint agent_credentials_joined check ((fingerprint is null) = (host_key is null));

alter table machines
  -- Of what the agent must show at its next connection; null until a joined machine has connected once.
  add column proof_sha256 bytea,
  -- The one before, while nobody knows whether the agent has stored the present one.
  add column previous_proof_sha256 bytea,
  -- When a copy of this machine's credential was last refused.
  add column clone_noticed_at timestamptz;
