-- no-transaction
-- Lines that were charged in a later month than they began in: each invoice asks for them.
drop index concurrently if exists charge_lines_of_earlier_months;
create index concurrently charge_lines_of_earlier_months on charge_lines (payer_id, charged_at)
  where date_trunc('month', from_at at time zone 'UTC') < date_trunc('month', charged_at at time zone 'UTC');
