package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import org.h2.engine.SessionLocal;
import org.h2.util.MathUtils;
import org.h2.value.ValueTimestampTimeZone;
import org.jspecify.annotations.Nullable;

/** Accesses H2's sources of time and random numbers, on which the replicas have to agree. */
public final class H2Clock {
  private static final VarHandle CURRENT_TIMESTAMP =
      H2Fields.field(SessionLocal.class, "currentTimestamp", ValueTimestampTimeZone.class);
  private static final PinnedRandom RANDOM = pinnedRandom();

  private H2Clock() {}

  /**
   * Pins the time and the random numbers of the statement that the session is about to run, on this
   * thread. H2 forgets the time at the end of the statement and at a commit, and a definition
   * commits before it begins. So callers pin before the statement is prepared, and again when it
   * starts. The time has the offset of the session's time zone.
   */
  static void pin(SessionLocal session, Pins pins) {
    pinTime(session, pins.timeMicros());
    session.getRandom().setSeed(pins.randSeed());
    RANDOM.pin(pins);
  }

  /** Ends what {@link #pin} began. */
  static void unpin(SessionLocal session) {
    unpinTime(session);
    RANDOM.unpin();
  }

  /** Pins the time of the query that the session is about to prepare and run. */
  public static void pinTime(SessionLocal session, long micros) {
    CURRENT_TIMESTAMP.set(session, Pins.timestamp(micros, session.currentTimeZone()));
  }

  /** Has the session take the time from the node's clock when a statement asks for it. */
  public static void unpinTime(SessionLocal session) {
    CURRENT_TIMESTAMP.set(session, (@Nullable ValueTimestampTimeZone) null);
  }

  /**
   * True if the query that runs has asked for the time, or the time is pinned. H2 forgets it when a
   * query outside a transaction has ended.
   */
  public static boolean hasTime(SessionLocal session) {
    return CURRENT_TIMESTAMP.get(session) != null;
  }

  /** Fixes the time forever on a session that runs no statements. */
  public static void stopTime(SessionLocal session) {
    CURRENT_TIMESTAMP.set(session, Pins.timestamp(0));
  }

  private static PinnedRandom pinnedRandom() {
    // makes H2 fill the field first, so that nothing replaces ours later
    MathUtils.secureRandomLong();
    VarHandle secureRandom =
        H2Fields.staticField(MathUtils.class, "secureRandom", SecureRandom.class);
    PinnedRandom random = new PinnedRandom((SecureRandom) secureRandom.get());
    secureRandom.set((SecureRandom) random);
    return random;
  }
}
