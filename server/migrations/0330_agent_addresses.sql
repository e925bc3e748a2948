-- Where agents may reach each server, as its operator publishes it: every server tells the addresses of those that live.
alter table servers add column agent_addresses text[] not null default '{}';
