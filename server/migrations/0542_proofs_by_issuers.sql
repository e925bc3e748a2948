-- An issuer of single sign-on, which the operator has chosen, may vouch for an address.
alter table users
  drop constraint users_email_proven_by,
  add constraint users_email_proven_by check (email_proven_by in ('mail', 'operator', 'server', 'issuer'));
