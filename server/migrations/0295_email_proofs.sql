-- An address is a claim until its mailbox has proven it. Only proven addresses are unique: a claim keeps nobody away.
alter table users add column email_proven_at timestamptz;
-- 'mail': a token that was mailed there. 'operator': the operator's word. 'server': an address that the server gave.
alter table users add column email_proven_by text
  constraint users_email_proven_by check (email_proven_by in ('mail', 'operator', 'server'));
alter table users add constraint users_email_proven check ((email_proven_at is null) = (email_proven_by is null));

update users set email_proven_at = created_at, email_proven_by = 'server' where is_team;
update users set email_proven_at = created_at, email_proven_by = 'operator' where is_admin;

drop index users_email;
create unique index users_email on users (email) where deleted_at is null and email_proven_at is not null;
create index users_email_claims on users (email) where deleted_at is null;

-- The newest token that was mailed to an account's address; an older one opens nothing.
create table email_proofs (
  user_id integer primary key references users (id),
  email text not null,
  token_sha256 bytea not null,
  sent_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > sent_at)
);

-- When tokens were mailed to an address, whoever asked: nobody's mailbox is flooded through this server.
create table email_proof_mails (
  id bigint generated always as identity primary key,
  email text not null,
  sent_at timestamptz not null
);

create index email_proof_mails_email on email_proof_mails (email, sent_at);

-- Mails that carry a secret, and so are no notices. A mail is deleted when it is delivered, refused, or too late.
create table direct_mails (
  id bigint generated always as identity primary key,
  to_address text not null,
  subject text not null,
  sealed_text text not null,
  attempt_count integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index direct_mails_due_at on direct_mails (due_at);
