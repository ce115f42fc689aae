package dev.tollgate.store.h2;

import dev.tollgate.core.command.UserName;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.h2.command.CommandInterface;
import org.h2.engine.Comment;
import org.h2.engine.ConnectionInfo;
import org.h2.engine.Constants;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * An in-memory H2 database. It holds what every replica creates before the log begins: schema
 * TOLLGATE, and the user that runs clients' statements, who is no administrator.
 */
public final class H2Database implements AutoCloseable {
  public static final String SYSTEM_SCHEMA = "TOLLGATE";

  /**
   * Clients see the part after the last slash as the catalog name. ANALYZE_AUTO is off because H2
   * counts statistics since the process started, so plans would depend on restarts.
   */
  private static final String URL =
      "jdbc:h2:mem:dev.tollgate.store/TOLLGATE;ANALYZE_AUTO=0;DB_CLOSE_ON_EXIT=FALSE";

  private static final String ADMINISTRATOR = "TOLLGATE_SYSTEM";

  /** The user of clients in a cluster without users, and of what runs by itself. */
  public static final String CLIENT = "TOLLGATE";

  /** One thread applies the log, so a wait for a table lock would be useless. */
  private static final int TABLE_LOCK_MILLIS = 1;

  // What a statement does must not depend on -ea, which a test runner sets. H2 asserts what does
  // not always hold, for instance that the number of a row to be changed is not 0.
  static {
    ClassLoader loader = Database.class.getClassLoader();
    if (loader != null) {
      loader.setPackageAssertionStatus("org.h2", false);
    }
  }

  private final Database database;
  private final User administrator;
  private final User client;
  private final Pinning pinning = new Pinning();
  private final Set<String> builtIn = new HashSet<>();

  /**
   * @param system the statements that create schema TOLLGATE
   */
  public H2Database(List<String> system) {
    ConnectionInfo connection = new ConnectionInfo(URL, new Properties(), ADMINISTRATOR, "");
    database = new Database(connection, null);
    administrator = new User(database, database.allocateObjectId(), ADMINISTRATOR, false);
    administrator.setAdmin(true);
    administrator.setUserPasswordHash(new byte[0]);
    database.setMasterUser(administrator);
    // without a limit: the database lives as long as this object, not as its sessions
    database.setCloseDelay(-1);
    SessionLocal session = openAdministration();
    try {
      session.setAllowLiterals(true);
      for (String statement : system) {
        run(session, statement);
      }
    } finally {
      session.close();
    }
    client = database.getUser(CLIENT);
    database.setEventListener(pinning);
    StoredDefinitions.of(database).forEach(part -> builtIn.add(part.sql()));
  }

  /** All that clients have defined, in the order in which a restore makes it. */
  public List<StoredDefinition> definitionsOfClients() {
    return StoredDefinitions.of(database).stream().filter(part -> !isBuiltIn(part.sql())).toList();
  }

  /**
   * Removes comments on objects that are gone. H2 keeps a comment under the name of its object, and
   * leaves it there when the object, or its schema, gets another name.
   *
   * @param touched what a definition has touched
   */
  public void dropLostComments(Touched touched) {
    Set<Comment> lost = new LinkedHashSet<>(database.getAllComments());
    if (!touched.schemas()) {
      lost.removeIf(comment -> touched.former().stream().noneMatch(comment.getName()::endsWith));
    }
    if (lost.isEmpty()) {
      return;
    }
    for (Schema schema : database.getAllSchemasNoMeta()) {
      lost.remove(database.findComment(schema));
      for (SchemaObject object : schema.getAll(null)) {
        lost.remove(database.findComment(object));
      }
    }
    database.getAllUsersAndRoles().forEach(object -> lost.remove(database.findComment(object)));
    if (!lost.isEmpty()) {
      SessionLocal session = openAdministration();
      try {
        lost.forEach(comment -> database.removeDatabaseObject(session, comment));
        session.commit(true);
      } finally {
        session.close();
      }
    }
  }

  /** True for SQL that defines an object which every replica has from the start. */
  public boolean isBuiltIn(String sql) {
    return builtIn.contains(sql);
  }

  /** Returns true for the users that the node itself has. */
  public static boolean isUserOfTheNode(String name) {
    return name.equals(CLIENT) || name.equals(ADMINISTRATOR);
  }

  /**
   * The user of this name.
   *
   * @return {@link #CLIENT} in a cluster without users; null if there is no such user any more
   */
  public @Nullable User user(UserName name) {
    return name.value().equals(ADMINISTRATOR) ? null : database.findUser(name.value());
  }

  /**
   * The user of this name, in whose session a statement of the log runs.
   *
   * @throws IllegalStateException if there is no such user
   */
  public User existingUser(UserName name) {
    User found = user(name);
    if (found == null) {
      throw new IllegalStateException("the database has no user " + name);
    }
    return found;
  }

  /** The user with all rights on what clients have made. */
  public User client() {
    return client;
  }

  /** Opens a session of the clients' user. */
  public SessionLocal openSession() {
    SessionLocal session = H2Sessions.openSession(database, client);
    session.setLockTimeout(TABLE_LOCK_MILLIS);
    return session;
  }

  /**
   * Sets the schema in which a session looks up unqualified names. If the named schema was dropped
   * or renamed meanwhile, the session uses the main schema.
   */
  public static void enterSchema(SessionLocal session, String name) {
    Schema schema = session.getDatabase().findSchema(name);
    session.setCurrentSchema(schema == null ? session.getDatabase().getMainSchema() : schema);
  }

  /**
   * Opens a session with all rights, for what only the administrator may do. The caller closes the
   * session.
   */
  public SessionLocal openAdministration() {
    return H2Sessions.openSession(database, administrator);
  }

  /** True if there is a table or a view that a client has made. */
  static boolean hasTablesOfClients(Database database) {
    for (Schema schema : database.getAllSchemas()) {
      if (!schema.getName().equals(SYSTEM_SCHEMA)) {
        for (Table table : schema.getAllTablesAndViews(null)) {
          // H2's own tables have none
          if (table.getCreateSQL() != null) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** The whole database as SQL, as H2 writes it, without passwords. */
  public List<String> script() {
    SessionLocal session = openAdministration();
    try (ResultInterface result =
        session.prepareCommand("SCRIPT NOPASSWORDS NOSETTINGS").executeQuery(0, 0, false)) {
      List<String> lines = new ArrayList<>();
      while (result.next()) {
        lines.add(result.currentRow()[0].getString());
      }
      return lines;
    } finally {
      session.close();
    }
  }

  /** The pinning of statements that are applied to this database. */
  public Pinning pinning() {
    return pinning;
  }

  public Database h2() {
    return database;
  }

  @Override
  public void close() {
    database.shutdownImmediately();
  }

  /** Names the version in use, for log files and error reports. */
  static String version() {
    return Constants.FULL_VERSION;
  }

  private static void run(SessionLocal session, String sql) {
    try {
      CommandInterface command = session.prepareCommand(sql);
      command.executeUpdate(null);
    } catch (DbException e) {
      SQLException cause = e.getSQLException();
      throw new IllegalStateException("H2 " + version() + " refused: " + sql, cause);
    }
  }
}
