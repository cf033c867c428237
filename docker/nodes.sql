-- Makes one Citus cluster of the coordinator and its workers; safe to run again. Each node signs in to the others
-- with the passwords of the two roles, which it keeps in pg_dist_authinfo, a table that only superusers read.
\set ON_ERROR_STOP on
\if :{?workers}
\else
  \set workers 'worker-1:5432,worker-2:5432'
\endif
\if :{?coordinator}
\else
  \set coordinator 'database:5432'
\endif
\set owner `cat /run/secrets/owner_password`
\set service `cat /run/secrets/service_password`
CREATE EXTENSION IF NOT EXISTS citus;
INSERT INTO pg_dist_authinfo (nodeid, rolename, authinfo) VALUES (0, 'holdfast_owner', 'password=' || :'owner')
ON CONFLICT (nodeid, rolename) DO UPDATE SET authinfo = excluded.authinfo;
SELECT citus_set_coordinator_host(split_part(:'coordinator', ':', 1), split_part(:'coordinator', ':', 2)::int);
SELECT citus_add_node(split_part(worker, ':', 1), split_part(worker, ':', 2)::int)
FROM unnest(string_to_array(:'workers', ',')) AS worker;
CREATE EXTENSION IF NOT EXISTS vector;
SELECT 'CREATE ROLE holdfast_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'holdfast_service') \gexec
ALTER ROLE holdfast_service PASSWORD :'service';
INSERT INTO pg_dist_authinfo (nodeid, rolename, authinfo) VALUES (0, 'holdfast_service', 'password=' || :'service')
ON CONFLICT (nodeid, rolename) DO UPDATE SET authinfo = excluded.authinfo;
