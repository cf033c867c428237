-- The role that the service connects as: it reads and writes rows and owns nothing, so row-level security holds
-- for it. Run after every upgrade as well, for tables that are new. The password is read from a secret.
\set ON_ERROR_STOP on
\set password `cat /run/secrets/service_password`
SELECT 'CREATE ROLE holdfast_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'holdfast_service') \gexec
ALTER ROLE holdfast_service PASSWORD :'password';
GRANT USAGE ON SCHEMA public TO holdfast_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO holdfast_service;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO holdfast_service;
