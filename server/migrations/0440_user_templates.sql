-- Templates that an account uses: others' public templates in its library, and the last rental with each template.
create table user_templates (
  user_id integer not null references users,
  template_id integer not null references templates,
  -- Null while the template is not in the account's library. Own templates always are, without an entry.
  added_at timestamptz,
  last_used_at timestamptz,
  primary key (user_id, template_id),
  check (added_at is not null or last_used_at is not null)
);

insert into user_templates (user_id, template_id, last_used_at)
select instance.user_id, template.id, max(instance.created_at)
from instances as instance join templates as template on template.id = instance.template_id
group by instance.user_id, template.id;
