-- A database of version 8: schema and some rows. Read by tests/e2e/upgrade_test.py; never changes.
create table schema_version (
  version integer not null
);
create table image (
  id integer primary key,
  path text not null unique,
  soname text not null,
  machine text not null,
  optimizable integer not null,
  reason text not null,
  program integer not null,
  follows integer references image (id) on delete set null
);
create table application (
  id integer primary key,
  name text not null unique,
  main_image integer not null references image (id),
  mode text not null check (mode in ('original', 'instrumented', 'optimized'))
);
create table application_image (
  application integer not null references application (id) on delete cascade,
  image integer not null references image (id),
  role text not null check (role in ('main', 'linked', 'opened')),
  loaded_as text not null,
  primary key (application, image)
);
create index application_image_by_image on application_image (image);
create table fault (
  application integer primary key references application (id) on delete cascade,
  program text not null,
  images text not null,
  signal integer not null,
  original_too integer not null,
  noted bigint not null
);
create table build (
  id integer primary key,
  image integer not null references image (id) on delete cascade,
  number integer not null,
  content_hash text not null,
  file_hash bigint not null,
  build_id text not null,
  machine text not null,
  file_size bigint not null,
  file_modified bigint not null,
  file_inode bigint not null,
  file_changed bigint not null,
  first_seen bigint not null,
  matched text not null,
  unique (image, content_hash),
  unique (image, number)
);
create table derived_image (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  kind text not null check (kind in ('instrumented', 'optimized')),
  options text not null,
  profile_hash text not null,
  forecast text not null,
  content_hash text not null,
  image_id text not null,
  map_hash text not null,
  made bigint not null,
  file_size bigint not null,
  file_modified bigint not null,
  file_inode bigint not null,
  file_changed bigint not null
);
create index derived_image_by_build on derived_image (build, kind);
create index derived_image_by_image_id on derived_image (image_id);
create table comparison (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  optimized_hash text not null,
  options text not null,
  workload text not null,
  model text not null,
  difference text not null,
  made bigint not null
);
create index comparison_by_build on comparison (build);
create table compared_number (
  comparison integer not null references comparison (id) on delete cascade,
  ordinal integer not null,
  kind text not null check (kind in ('figure', 'cycles')),
  name text not null,
  original bigint not null,
  optimized bigint not null,
  primary key (comparison, ordinal)
);
create table shape (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  hash text not null,
  registered integer not null,
  unique (build, hash)
);
create table procedure_shape (
  shape integer not null references shape (id) on delete cascade,
  ordinal integer not null,
  name text not null,
  address bigint not null,
  signature bigint not null,
  flow blob not null,
  primary key (shape, ordinal)
);
create table count_set (
  id integer primary key,
  shape integer not null references shape (id) on delete cascade,
  purpose text not null check (purpose in ('day', 'run', 'carried', 'given')),
  day integer not null,
  runs double precision not null,
  weight double precision not null,
  source integer references build (id) on delete set null
);
create index count_set_by_shape on count_set (shape, purpose, day);
create table procedure_count (
  count_set integer not null references count_set (id) on delete cascade,
  ordinal integer not null,
  counts blob not null,
  primary key (count_set, ordinal)
);
create table run (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  process bigint not null,
  started bigint not null,
  file text not null,
  file_hash bigint not null,
  merged bigint not null,
  ended text not null,
  weight double precision not null,
  state text not null check (state in ('finished', 'running', 'lost')),
  count_set integer references count_set (id) on delete set null,
  unique (build, process, started)
);
create index run_by_state on run (state);
create index run_by_start on run (started);
create index run_by_count_set on run (count_set);
create index count_set_by_source on count_set (source);
create table last_run (
  application integer primary key references application (id) on delete cascade,
  arguments text not null,
  folder text not null,
  input text not null,
  noted bigint not null
);
create table last_check (
  application integer primary key references application (id) on delete cascade,
  images text not null,
  result text not null check (result in ('faster', 'same', 'slower', 'differs', 'unclear')),
  verdict text not null,
  gain double precision not null,
  noted bigint not null
);
create table last_export (
  application integer primary key references application (id) on delete cascade,
  images text not null,
  folder text not null,
  noted bigint not null
);
insert into schema_version values (8);
insert into image values (1, '/usr/bin/sort', '', 'alpha', 1, '', 1, null);
insert into image values (2, '/usr/lib/libsort.so.1', 'libsort.so.1', 'alpha', 0, 'the image has no relocations', 0, null);
insert into image values (3, '/usr/lib/libsort.so.2', 'libsort.so.1', 'alpha', 1, '', 0, 2);
insert into application values (1, 'sort', 1, 'instrumented');
insert into application_image values (1, 1, 'main', '/bin/sort');
insert into application_image values (1, 2, 'linked', '/lib/libsort.so.1');
insert into last_run values (1, '-n big', '/tmp', '', 1700000400);
insert into last_check values (1, 'ffffffffffffffffffffffffffffffff', 'faster', 'ship: 25% fewer cycles', 0.25, 1700000560);
insert into last_export values (1, 'ffffffffffffffffffffffffffffffff', '/opt/sort', 1700000570);
insert into fault values (1, '/usr/bin/sort', 'ffffffffffffffffffffffffffffffff', 11, 0, 1700000600);
insert into build values (1, 1, 1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', -5, '', 'alpha', 60000, 1700000000000000000, 41, 1700000000000000001, 1700000100, '');
insert into build values (2, 1, 2, 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 7, 'c0ffee', 'alpha', 70000, 1700000000123456789, 42, 1700000000123456790, 1700000200, '99999999999999999999999999999999');
insert into derived_image values (1, 2, 'instrumented', 'shared', '', '', 'cccccccccccccccccccccccccccccccc', 'dddddddddddddddddddddddddddddddd', 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 1700000300, 80000, 1700000000000000007, 43, 1700000000000000008);
insert into comparison values (1, 2, 'ffffffffffffffffffffffffffffffff', 'ext-tsp', 'sort numbers', 'alpha21164', '', 1700000550);
insert into compared_number values (1, 0, 'figure', 'cycles', 2000, 1500);
insert into shape values (1, 1, '00000000000000000000000000000000', 1);
insert into shape values (2, 2, '11111111111111111111111111111111', 1);
insert into count_set values (1, 1, 'day', 19675, 4, 1, null);
insert into count_set values (2, 2, 'day', 19675, 1.5, 1, null);
insert into count_set values (3, 2, 'given', 19676, 1, 2, null);
insert into count_set values (4, 2, 'carried', 19675, 4, 0.75, 1);
insert into run values (1, 2, 4711, 1700000400000000000, 'sort.4711.1797a5a6c5f00000.counts', 99, 1700000500, 'exited 0', 1, 'finished', 2);
