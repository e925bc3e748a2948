-- Tokens that let a person in once: a link to sign in, an invitation to sign up, or the reset of a password.
create table sign_in_tokens (
  id integer generated always as identity primary key,
  purpose text not null check (purpose in ('link', 'invitation', 'reset')),
  token_sha256 bytea not null,
  -- The account that the token is for; for an invitation the account that was made with it.
  user_id integer references users (id),
  -- The only address that an invitation is good for; null for any.
  email text,
  -- The administrator who made it; null when the server did.
  created_by_id integer references users (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  revoked_at timestamptz,
  constraint sign_in_tokens_user check (purpose = 'invitation' or user_id is not null)
);

create unique index sign_in_tokens_token_sha256 on sign_in_tokens (token_sha256);
create index sign_in_tokens_user_id on sign_in_tokens (user_id) where user_id is not null;
