-- Through which users' credit the money of a returned payment came to the account that it was taken from, in order. Empty
-- where the payer sent it there. Deposits of others name their owner, who is the last of these.
alter table payment_takings add column through integer[] not null default '{}';
