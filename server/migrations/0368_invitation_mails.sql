-- When invitations were mailed, and who asked for them: nobody floods a mailbox, or mails a list of strangers, through this
-- server. Rows are deleted after a day.
create table invitation_mails (
  id bigint generated always as identity primary key,
  email text not null,
  invited_by integer not null references users (id),
  sent_at timestamptz not null
);

create index invitation_mails_email on invitation_mails (email, sent_at);
create index invitation_mails_invited_by on invitation_mails (invited_by, sent_at);
create index invitation_mails_sent_at on invitation_mails (sent_at);
