-- no-transaction
-- Rows from before launch settings and private templates were sealed. The loop that seals them looks for these rows again
-- and again; once they are sealed the indexes are empty.
drop index concurrently if exists instances_clear_launch;
create index concurrently instances_clear_launch on instances (id) where launch ? 'env';
drop index concurrently if exists templates_clear_content;
create index concurrently templates_clear_content on templates (id)
  where content ? 'env' and content @> '{"private": true}';
drop index concurrently if exists template_versions_clear_content;
create index concurrently template_versions_clear_content on template_versions (template_id)
  where content ? 'env' and content @> '{"private": true}';
