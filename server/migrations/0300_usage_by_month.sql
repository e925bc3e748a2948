-- From this month on an invoice has the usage that happened in its month, instead of what was charged in it. Null: since
-- the first invoice. A month of which invoices may have been issued is finished by the rule it was begun with.
alter table invoice_document_clock add column usage_by_month_from_at timestamptz;
update invoice_document_clock set usage_by_month_from_at = case
  when done_user_id = 0 and not exists (select from invoice_documents d where d.from_at >= next_from_at) then next_from_at
  else (next_from_at at time zone 'UTC' + interval '1 month') at time zone 'UTC'
end;
