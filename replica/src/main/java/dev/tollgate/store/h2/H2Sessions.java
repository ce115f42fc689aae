package dev.tollgate.store.h2;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.util.NetworkConnectionInfo;
import org.h2.util.TimeZoneProvider;
import org.jspecify.annotations.Nullable;

/** Accesses H2's sessions. */
public final class H2Sessions {
  private static final VarHandle SHOWN_LOCK_TIMEOUT =
      H2Fields.field(SessionLocal.class, "lockTimeout", int.class);
  private static final VarHandle DERIVED_TABLES =
      H2Fields.field(SessionLocal.class, "derivedTableIndexCache", HashMap.class);
  private static final VarHandle LAST_IDENTIFIER =
      H2Fields.field(SessionLocal.class, "systemIdentifier", int.class);
  private static final VarHandle USER = H2Fields.field(SessionLocal.class, "user", User.class);
  private static final MethodHandle CREATE_SESSION = createSession();

  private H2Sessions() {}

  /** Opens a session that H2 counts among the users' sessions, in UTC. */
  static SessionLocal openSession(Database database, User user) {
    try {
      SessionLocal session =
          (SessionLocal) CREATE_SESSION.invokeExact(database, user, (NetworkConnectionInfo) null);
      // H2 takes the zone of the process, which is not the same everywhere
      session.setTimeZone(TimeZoneProvider.UTC);
      return session;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("createSession declares no checked exception", e);
    }
  }

  /**
   * Makes a session one of another user, whose rights its next statements need.
   *
   * @return the user before
   */
  public static User become(SessionLocal session, User user) {
    User before = session.getUser();
    if (!before.getName().equals(user.getName())) {
      USER.set(session, user);
    }
    return before;
  }

  /**
   * Makes H2 count from 0 the names that it gives to what the next statement does not name, such as
   * a derived table. Results and views have these names, so they must not depend on what the
   * session has done before.
   */
  static void forgetIdentifiers(SessionLocal session) {
    LAST_IDENTIFIER.set(session, 0);
  }

  /**
   * Makes LOCK_TIMEOUT() return this value. H2's own setter would make the open transaction wait
   * that long.
   *
   * @return the value that it returned before
   */
  public static int showLockTimeout(SessionLocal session, long millis) {
    int before = session.getLockTimeout();
    SHOWN_LOCK_TIMEOUT.set(session, (int) Math.min(millis, Integer.MAX_VALUE));
    return before;
  }

  /**
   * Forgets the derived tables of statements that were prepared. No later statement can use these
   * tables. H2 itself forgets them only for statements that it prepares as commands.
   */
  public static void forgetDerivedTables(SessionLocal session) {
    DERIVED_TABLES.set(session, (@Nullable HashMap<?, ?>) null);
  }

  /** How many derived tables a session remembers. */
  public static int derivedTables(SessionLocal session) {
    HashMap<?, ?> tables = (HashMap<?, ?>) DERIVED_TABLES.get(session);
    return tables == null ? 0 : tables.size();
  }

  private static MethodHandle createSession() {
    try {
      return MethodHandles.privateLookupIn(Database.class, MethodHandles.lookup())
          .findVirtual(
              Database.class,
              "createSession",
              MethodType.methodType(SessionLocal.class, User.class, NetworkConnectionInfo.class));
    } catch (ReflectiveOperationException e) {
      throw H2Fields.moved(e);
    }
  }
}
