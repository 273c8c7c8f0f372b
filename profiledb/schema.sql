-- The profile database, version 8.
--
-- Applications use images; an image has builds; a build has counts, and images that were made from
-- it. Files (these images and their counter maps) are not in the database: they lie beside it under
-- the hash of their contents (profiledb/image_store.h).
--
-- Portable SQL: no feature of one database alone. In PostgreSQL `blob` would be `oid`: SOCI keeps
-- blobs there as large objects. Keys are given by Respike, the largest plus one. Times are seconds
-- since 1970, unless said otherwise; days are days since 1970, UTC. Hashes are XXH3 with 128 bits
-- (optimizer/base/hash.h) as 32 hexadecimal digits. Numbers without sign that need 64 bits are kept
-- as the signed number with the same bits.
--
-- A change of this file needs a new version, a migration (database_schema.cc), and a stored
-- database of the version (tests/unit/database_N.sql).

create table schema_version (
  version integer not null  -- one row
);

-- ---- applications, images and builds ----

-- A file that programs load or run, by its path without symbolic links.
create table image (
  id integer primary key,
  path text not null unique,
  soname text not null,          -- of a shared library; else empty
  machine text not null,         -- as `respike image info` prints it
  optimizable integer not null,  -- 0 or 1
  reason text not null,          -- why it is not optimizable; else empty
  program integer not null,      -- 1: can be started; 0: a library
  follows integer references image (id) on delete set null  -- the image that an application loaded
                                 -- before, by the same link; its profile is carried over
);

-- What a user registers, starts and optimizes: one or more programs, or a library.
create table application (
  id integer primary key,
  name text not null unique,
  main_image integer not null references image (id),  -- the first image in role main
  mode text not null check (mode in ('original', 'instrumented', 'optimized'))
);

-- The images that an application uses.
create table application_image (
  application integer not null references application (id) on delete cascade,
  image integer not null references image (id),
  role text not null check (role in ('main', 'linked', 'opened')),  -- main: named by the user;
                                                                    -- opened: by dlopen
  loaded_as text not null,  -- the path that the user named or the loader opens: if a symbolic link
                            -- on the way changes, the application follows it
  primary key (application, image)
);
create index application_image_by_image on application_image (image);

-- How the optimized version of an application died: of a signal that indicates an error in a
-- program. The original runs instead until it dies of the same signal.
create table fault (
  application integer primary key references application (id) on delete cascade,
  program text not null,          -- the path of the program that was started
  images text not null,           -- content hashes of the optimized images that ran, ascending,
                                  -- with blanks between
  signal integer not null,        -- number of the signal
  original_too integer not null,  -- 1: the original died of the same signal later
  noted bigint not null
);

-- What was done last with an application: the manager shows its progress, and offers the same
-- arguments again.
create table last_run (  -- the last run that counted, by `respike run`
  application integer primary key references application (id) on delete cascade,
  arguments text not null,  -- as a line of a shell
  folder text not null,     -- in which the program ran
  input text not null,      -- the file that it read; empty: none
  noted bigint not null
);
create table last_check (
  application integer primary key references application (id) on delete cascade,
  images text not null,         -- as in fault
  result text not null check (result in ('faster', 'same', 'slower', 'differs', 'unclear')),
  verdict text not null,        -- one line
  gain double precision not null,  -- share of the costs that the optimized version saves; 0: no
                                   -- measurable difference; negative: it costs more
  noted bigint not null
);
create table last_export (
  application integer primary key references application (id) on delete cascade,
  images text not null,  -- as in fault
  folder text not null,
  noted bigint not null
);

-- One content of an image. A file that changes is a new build; a file that changes back is the old
-- build again.
create table build (
  id integer primary key,
  image integer not null references image (id) on delete cascade,
  number integer not null,          -- 1, 2, ... within the image
  content_hash text not null,       -- of the file
  file_hash bigint not null,        -- hash64 of the file, as in profiles
  build_id text not null,           -- hexadecimal; empty when there is none
  machine text not null,            -- at that time; the image has the newest build's machine
  file_size bigint not null,        -- these four show without reading that a file is unchanged
  file_modified bigint not null,    -- nanoseconds since 1970
  file_inode bigint not null,
  file_changed bigint not null,     -- when the kernel saw the last change; programs cannot set it
                                    -- back
  first_seen bigint not null,
  matched text not null,            -- what was last matched to this build: hash of an older build's
                                    -- profile, and fingerprint of the matching; empty: nothing yet
  unique (image, content_hash),
  unique (image, number)
);

-- ---- derived images and comparisons ----

create table derived_image (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  kind text not null check (kind in ('instrumented', 'optimized')),
  options text not null,        -- options that the image was made with
  profile_hash text not null,   -- hash of the profile that the image was made with; empty: none
  forecast text not null,       -- optimized: expected gain; empty: none
  content_hash text not null,   -- hash of the file: its name in the store
  image_id text not null,       -- instrumented: the identity in its counter files; else empty
  map_hash text not null,       -- instrumented: hash of its counter map, a file of the store; else
                                -- empty
  made bigint not null,
  file_size bigint not null,     -- these four tell without reading that the file of the store is as
  file_modified bigint not null, -- it was when it was last found to be whole; 0: not known
  file_inode bigint not null,
  file_changed bigint not null
);
create index derived_image_by_build on derived_image (build, kind);
create index derived_image_by_image_id on derived_image (image_id);

-- A comparison: the image of a build and an image optimized from it do the same work on a model of
-- a processor.
create table comparison (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  optimized_hash text not null,  -- content of the optimized image, which may be gone
  options text not null,         -- as in derived_image
  workload text not null,        -- as a line of a shell
  model text not null,           -- name of the processor model
  difference text not null,      -- difference in behaviour, a clause; empty: none
  made bigint not null
);
create index comparison_by_build on comparison (build);

create table compared_number (
  comparison integer not null references comparison (id) on delete cascade,
  ordinal integer not null,  -- 0, 1, ... in the order of the model
  kind text not null check (kind in ('figure', 'cycles')),  -- cycles: by cause
  name text not null,
  original bigint not null,
  optimized bigint not null,
  primary key (comparison, ordinal)
);

-- ---- shapes, counts and runs ----

-- The meaning of counts: the procedures of a build with their blocks, edges and calls. A build can
-- have several shapes: the counter map of an instrumented image has some edges that the registered
-- procedures lack, and a later Respike may find different blocks.
create table shape (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  hash text not null,           -- hash of all its procedures
  registered integer not null,  -- 1: the procedures that the build was registered with
  unique (build, hash)
);

create table procedure_shape (
  shape integer not null references shape (id) on delete cascade,
  ordinal integer not null,   -- 0, 1, ... in the order of addresses
  name text not null,         -- these three are also in `flow`; here they are for queries
  address bigint not null,
  signature bigint not null,  -- signature of the flow graph, docs/profiles.md
  flow blob not null,         -- blocks, edges, calls: a procedure in the profile format of that
                              -- page
  primary key (shape, ordinal)
);

-- Counts of one shape that are kept separate from others:
--   day      the finished runs that started on a day and have the same weight, added up
--   run      one run that had not finished when it was read, or whose file disappeared
--   carried  the profile of an older build, carried over by matching
--   given    profiles that a user added, by day
create table count_set (
  id integer primary key,
  shape integer not null references shape (id) on delete cascade,
  purpose text not null check (purpose in ('day', 'run', 'carried', 'given')),
  day integer not null,        -- when it was counted
  runs double precision not null,        -- before they are weighted
  weight double precision not null,      -- counts are multiplied by it; carried: the confidence,
                                         -- in (0, 1]
  source integer references build (id) on delete set null  -- carried: the older build
);
create index count_set_by_shape on count_set (shape, purpose, day);

-- Only procedures that were entered have a row.
create table procedure_count (
  count_set integer not null references count_set (id) on delete cascade,
  ordinal integer not null,  -- of the procedure in the shape
  counts blob not null,      -- profiledb/counts.h
  primary key (count_set, ordinal)
);

-- A process that ran an instrumented image and left a counter file, or will leave one. Build,
-- process and start are in the file: they show whether the file was counted before.
create table run (
  id integer primary key,
  build integer not null references build (id) on delete cascade,
  process bigint not null,   -- its number
  started bigint not null,   -- nanoseconds since 1970
  file text not null,        -- name of the counter file in the spool of the build
  file_hash bigint not null, -- hash64 of the file when it was last read
  merged bigint not null,    -- when it was last read
  ended text not null,       -- 'exited N', 'killed by N', or 'unknown'
  weight double precision not null,
  -- finished: nothing changes any more. running: the counts are those from when it was read. lost:
  -- its file disappeared while it was running; the counts from before are kept.
  state text not null check (state in ('finished', 'running', 'lost')),
  count_set integer references count_set (id) on delete set null,  -- the count set that its counts
                                                                   -- were added to
  unique (build, process, started)
);
create index run_by_state on run (state);
create index run_by_start on run (started);
create index run_by_count_set on run (count_set);
create index count_set_by_source on count_set (source);
