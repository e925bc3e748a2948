-- Published clients send their default of 5 cold workers with every cap: the cap bounds them where they count.
alter table endpoint_groups drop constraint endpoint_groups_check;
