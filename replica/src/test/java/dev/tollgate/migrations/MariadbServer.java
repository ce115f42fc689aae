package dev.tollgate.migrations;

/** A server of MariaDB for the tests of a class, which are skipped where it is not installed. */
public final class MariadbServer extends DatabaseServer {
  @Override
  DatabaseProcess start() throws Exception {
    return MariadbProcess.start();
  }
}
