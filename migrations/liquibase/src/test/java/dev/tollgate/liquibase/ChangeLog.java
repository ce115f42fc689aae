package dev.tollgate.liquibase;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.DirectoryResourceAccessor;

/** The change log of a folder, and commands of Liquibase with it. */
final class ChangeLog {
  private final Path folder;
  private final String file;
  private final StringBuilder text = new StringBuilder("--liquibase formatted sql\n");

  /** A change log in SQL, in file changelog.sql. */
  ChangeLog(Path folder) {
    this(folder, "changelog.sql");
  }

  private ChangeLog(Path folder, String file) {
    this.folder = folder;
    this.file = file;
  }

  /** A change log with one change set, which is a change in Java. */
  static ChangeLog ofJava(Path folder, Class<?> change) throws IOException {
    return new ChangeLog(folder, "changelog.yaml")
        .write(
            """
            databaseChangeLog:
              - changeSet:
                  id: java
                  author: tests
                  changes:
                    - customChange:
                        class: %s
            """
                .formatted(change.getName()));
  }

  /** Adds a change set: what follows its author in the header, and its lines. */
  ChangeLog changeSet(String header, String... lines) throws IOException {
    text.append("\n--changeset tests:").append(header).append('\n');
    for (String line : lines) {
      text.append(line).append('\n');
    }
    return write(text.toString());
  }

  private ChangeLog write(String whole) throws IOException {
    Files.writeString(folder.resolve(file), whole);
    return this;
  }

  /** What Liquibase is asked for. */
  interface Command {
    void run(Liquibase liquibase) throws Exception;
  }

  void update(Connection connection) throws Exception {
    run(connection, Map.of(), liquibase -> liquibase.update(""));
  }

  /** The messages of a failure and of its causes. */
  static String reasons(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .map(Throwable::toString)
        .collect(Collectors.joining("\n"));
  }

  /** Closes the connection in the end, as Liquibase does. */
  @SuppressWarnings("try") // the accessor's close() could be interrupted
  void run(Connection connection, Map<String, Object> settings, Command command) throws Exception {
    Scope.child(
        settings,
        () -> {
          try (DirectoryResourceAccessor files = new DirectoryResourceAccessor(folder)) {
            var database =
                DatabaseFactory.getInstance()
                    .findCorrectDatabaseImplementation(new JdbcConnection(connection));
            try (Liquibase liquibase = new Liquibase(file, files, database)) {
              command.run(liquibase);
            }
          }
        });
  }
}
