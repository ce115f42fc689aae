package dev.tollgate.node;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.transport.StoppableClient;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What runs a script once: the plain runner, or a plug-in of another one. */
interface MigrationTool {
  /** Where the connections of a run come from; each is of schema {@code schema}. */
  interface Connector {
    Connection connect(Map<String, String> properties) throws SQLException;

    /** The same, as runners know databases. */
    default Database asDatabase() {
      return new Database() {
        @Override
        public String url() {
          return StoppableClient.URL;
        }

        @Override
        public Connection connect(Map<String, String> properties) throws SQLException {
          return Connector.this.connect(properties);
        }
      };
    }
  }

  /** Writes the one script of a folder. */
  void write(Path folder, List<String> statements, boolean eachByItself) throws Exception;

  /** Runs what is left of the script; throws if not all of it is done. */
  void run(Connector database, String schema, Path folder, Duration lease) throws Exception;

  /** The lock of the runs of a schema. */
  String lock(String schema);

  /** True if a run ended because it cannot know what became of a statement. */
  default boolean isNotKnown(Exception failure) {
    return failure instanceof MigrationException ended
        && ended.reason() == MigrationException.Reason.UNKNOWN_OUTCOME;
  }

  /** A query that gives 1 if the history has the script once, and as done. */
  String historyQuery(String schema);
}
