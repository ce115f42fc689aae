package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.jdbc.DefinitionMarks;
import dev.tollgate.node.MigrationCell.End;
import dev.tollgate.node.MigrationCell.Kind;
import dev.tollgate.node.MigrationCell.Moment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each kind of statement of a script, each moment of it, and each end of its run: after the next
 * run every statement has run exactly once, or that run says that it does not know.
 */
class EveryMomentTest {
  private static final int CONNECTIONS = 1_000;

  private final CellTable table = new CellTable();
  @TempDir private Path directory;

  @AfterEach
  void printTable() {
    System.out.println(table);
  }

  private MigrationCells cells(End end, MigrationTool tool) throws Exception {
    boolean nodesEnd = end == End.LEADER_KILL || end == End.RESTART;
    return new MigrationCells(
        directory,
        nodesEnd
            ? MigrationNodes.ofThree(directory.resolve("nodes"), CONNECTIONS)
            : MigrationNodes.inMemory(),
        tool,
        table);
  }

  @ParameterizedTest
  @EnumSource(names = {"KILL", "LEADER_KILL"})
  void everyStatementRunsOnceAmongOtherClients(End end) throws Exception {
    runTogether(end, new PlainRunner());
  }

  @ParameterizedTest
  @EnumSource(
      names = {"KILL", "LEADER_KILL"},
      mode = EnumSource.Mode.EXCLUDE)
  @Tag("nightly")
  void everyStatementRunsOnceAfterTheOtherEnds(End end) throws Exception {
    runTogether(end, new PlainRunner());
  }

  /** As Flyway and Liquibase do with their scripts and change sets. */
  @ParameterizedTest
  @EnumSource(names = {"KILL", "FORCE_RELEASE"})
  @Tag("nightly")
  void everyStatementOfAToolThatCommitsAtTheEndRunsOnce(End end) throws Exception {
    runTogether(end, new LedgerTool());
  }

  /** All runs stand at their moments when the end comes; the others are other clients. */
  private void runTogether(End end, MigrationTool tool) throws Exception {
    try (MigrationCells cells = cells(end, tool)) {
      List<MigrationCell> together = new ArrayList<>();
      for (Moment moment : Moment.values()) {
        if (moment != Moment.RUNNING) {
          together.addAll(MigrationCell.of(moment, end, /* others= */ true));
        }
      }
      cells.run(together);
      cells.run(MigrationCell.of(Moment.RUNNING, end, /* others= */ true));
    }
    assertEquals(List.of(), table.wrong());
  }

  /** Nobody else defines anything, and nobody else runs. */
  @ParameterizedTest
  @EnumSource
  @Tag("nightly")
  void everyStatementRunsOnceAlone(End end) throws Exception {
    try (MigrationCells cells = cells(end, new PlainRunner())) {
      for (Moment moment : Moment.values()) {
        for (MigrationCell cell : MigrationCell.of(moment, end, /* others= */ false)) {
          cells.run(List.of(cell));
        }
      }
    }
    assertEquals(List.of(), table.wrong());
  }

  /** Marks each definition before it is sent, in a transaction of its own. */
  private static final class SplitRunner extends PlainRunner {
    @Override
    Connection wrapped(Connection connection) {
      return (Connection)
          Proxy.newProxyInstance(
              Connection.class.getClassLoader(),
              new Class<?>[] {Connection.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("unwrap") && arguments[0] == DefinitionMarks.class) {
                  return new SplitMarks(connection);
                }
                try {
                  return method.invoke(connection, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }
  }

  private record SplitMarks(Connection connection) implements DefinitionMarks {
    @Override
    public void markDefinition(String definition, String change, @Nullable Object... values)
        throws SQLException {
      try (PreparedStatement mark = connection.prepareStatement(change)) {
        for (int i = 0; i < values.length; i++) {
          mark.setObject(i + 1, values[i]);
        }
        mark.executeUpdate();
      }
      connection.commit();
    }

    @Override
    public boolean dropMark() {
      return false;
    }
  }

  @Test
  void runnerThatMarksBeforeItDefinesIsFound() throws Exception {
    try (MigrationCells cells = cells(End.KILL, new SplitRunner())) {
      cells.run(
          List.of(
              new MigrationCell(Kind.COLUMN, Moment.SENT, End.KILL, /* others= */ true),
              new MigrationCell(Kind.ROWS, Moment.SENT, End.KILL, /* others= */ true)));
    }
    assertEquals(1, table.wrong().size(), () -> table.wrong().toString());
    assertFalse(table.wrong().get(0).contains("kind=ROWS"), () -> table.wrong().toString());
  }
}
