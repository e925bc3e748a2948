-- Certificates of the names that the servers of this database serve, from an ACME authority: every server serves all of them,
-- and answers the challenges of all orders (docs/adr/0066-certificates-and-names.md).
create table served_certificates (
  -- A host name, or one with a star in place of its first part.
  name text primary key check (name = lower(name) and length(name) <= 253),
  -- The certificate and those of its issuers in PEM, with the encrypted key; null before the first one was issued.
  chain_pem text,
  encrypted_key text,
  issued_at timestamptz,
  expires_at timestamptz,
  -- The next order, and what became of those since the last certificate.
  order_at timestamptz not null,
  failure_count integer not null default 0 check (failure_count >= 0),
  problem text,
  -- The server that orders now names itself by a token; after its lease another one may order.
  lease_token text,
  lease_until_at timestamptz,
  check (num_nulls(chain_pem, encrypted_key, issued_at, expires_at) in (0, 4)),
  check (num_nulls(lease_token, lease_until_at) in (0, 2))
);

create table acme_accounts (
  directory_url text primary key,
  encrypted_key text not null,
  created_at timestamptz not null
);

create table acme_challenges (
  token text primary key,
  key_authorization text not null,
  expires_at timestamptz not null
);
