-- no-transaction
-- Which invoices were issued since the last seal: the ordinary audit reads those, however many were issued before.
drop index concurrently if exists invoice_documents_issued_at;
create index concurrently invoice_documents_issued_at on invoice_documents (issued_at);
