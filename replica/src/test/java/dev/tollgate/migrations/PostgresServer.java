package dev.tollgate.migrations;

/** A server of PostgreSQL for the tests of a class, which are skipped where it is not installed. */
public final class PostgresServer extends DatabaseServer {
  @Override
  DatabaseProcess start() throws Exception {
    return PostgresProcess.start();
  }
}
