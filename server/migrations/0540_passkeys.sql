-- Passkeys: keys of a person's device or security key, with which they sign in.
create table passkeys (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- The name that the authenticator gave to the key.
  credential_id bytea not null check (octet_length(credential_id) between 1 and 1023),
  -- In COSE form (RFC 9052).
  public_key bytea not null,
  -- The name of the account inside authenticators: it tells them nothing about the person.
  user_handle bytea not null,
  label text not null check (length(label) between 1 and 30),
  -- The ways in which the authenticator reaches a browser, such as usb or internal.
  transports text[] not null default '{}',
  -- Signatures that the authenticator has counted; many count none.
  sign_count bigint not null check (sign_count >= 0),
  -- True when the key may be copied to further devices of its owner.
  is_synced boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  deleted_at timestamptz
);

create unique index passkeys_credential_id on passkeys (credential_id) where deleted_at is null;
create index passkeys_user_id on passkeys (user_id) where deleted_at is null;

-- Challenges that wait for the signature of a passkey, each good once.
create table passkey_challenges (
  challenge_sha256 bytea primary key,
  -- The browser that asked for it, by its cookie.
  browser_sha256 bytea not null,
  -- The account that adds a passkey; null at a sign-in, which names nobody.
  user_id integer references users (id),
  expires_at timestamptz not null
);

create index passkey_challenges_expires_at on passkey_challenges (expires_at);
