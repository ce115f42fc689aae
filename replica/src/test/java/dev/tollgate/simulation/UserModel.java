package dev.tollgate.simulation;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which users there should be at an entry of the log, and what they may do; the part of {@link
 * Model} that is about users.
 */
final class UserModel {
  private record Granted(String user, String right, String pattern) {
    boolean covers(String lock) {
      return pattern.startsWith("%") ? lock.endsWith(pattern.substring(1)) : pattern.equals(lock);
    }
  }

  private static final String LOCK = "LOCK";
  private static final String FORCE = "FORCE";
  private static final String MANAGE = "MANAGE";

  /** By name: whether the user is an administrator. */
  private final Map<String, Boolean> users = new TreeMap<>();

  /** By name: which logins count. */
  private final Map<String, Long> numbers = new TreeMap<>();

  private final Set<String> locked = new TreeSet<>();

  /** By name: the time from which on the user may not log in. */
  private final Map<String, Long> expiries = new TreeMap<>();

  private long lastNumber;

  private final Set<Granted> granted = new HashSet<>();

  /** Who may change rows. */
  private final Set<String> writers = new TreeSet<>();

  private final Map<String, Long> counts = new TreeMap<>();
  private boolean changed;

  private UserModel() {}

  /** A cluster in which everybody may do everything. */
  static UserModel none() {
    return new UserModel();
  }

  /** What {@link Op#setUpUsers} leaves. */
  static UserModel afterSetUp() {
    UserModel model = new UserModel();
    model.create(Op.ROOT, true);
    Op.USERS.forEach(user -> model.create(user, false));
    String first = Op.USERS.get(0);
    model.writers.add(first);
    for (int lock = 0; lock < Op.LOCKS; lock++) {
      model.granted.add(new Granted(first, LOCK, Op.lockName(lock)));
    }
    return model;
  }

  /**
   * @param number of the login
   * @param logMicros the time of the log
   */
  boolean mayOpen(String user, long number, long logMicros) {
    if (users.isEmpty()) {
      return true;
    }
    boolean counts = number == 0 || number == numbers.getOrDefault(user, 0L);
    boolean expired = logMicros >= expiries.getOrDefault(user, Long.MAX_VALUE);
    if (mayHaveSessions(user)) {
      count(expired ? "expired users refused" : counts ? "users let in" : "old logins refused");
    }
    return mayHaveSessions(user) && counts && !expired;
  }

  /** Also those that were opened before the user expired. */
  boolean mayHaveSessions(String user) {
    return users.isEmpty() || (users.containsKey(user) && !locked.contains(user));
  }

  private void create(String user, boolean administers) {
    users.put(user, administers);
    numbers.put(user, ++lastNumber);
  }

  boolean administers(String user) {
    return users.isEmpty() || users.getOrDefault(user, false);
  }

  boolean managesLocks(String user) {
    return administers(user) || granted.contains(manage(user));
  }

  private static Granted manage(String user) {
    return new Granted(user, MANAGE, "");
  }

  boolean mayUpdate(String user) {
    return administers(user) || writers.contains(user);
  }

  boolean mayLock(String user, Collection<String> locks) {
    return locks.stream().allMatch(lock -> may(user, LOCK, lock));
  }

  boolean mayForce(String user, String lock) {
    return may(user, FORCE, lock);
  }

  private boolean may(String user, String right, String lock) {
    return managesLocks(user)
        || granted.stream()
            .anyMatch(one -> one.user.equals(user) && one.right.equals(right) && one.covers(lock));
  }

  /** Returns once whether users or rights were changed. */
  boolean takeChanged() {
    boolean did = changed;
    changed = false;
    return did;
  }

  /** Carries out a statement about users or rights; returns its answer. */
  String execute(Op op, String by) {
    if (!administers(by)) {
      count("refused for want of a right");
      return "refused";
    }
    changed = true;
    String user = op.user();
    boolean known = users.containsKey(user);
    return switch (op.kind()) {
      case CREATE_USER -> {
        count(known ? "users created again" : "users created");
        if (!known) {
          create(user, false);
        }
        yield "0";
      }
      case DROP_USER -> user.equals(by) ? "refused" : drop(user);
      case GRANT_LOCK -> known ? grant(new Granted(user, LOCK, op.pattern())) : "refused";
      case GRANT_FORCE -> known ? grant(new Granted(user, FORCE, op.pattern())) : "refused";
      case REVOKE_LOCK -> revoke(new Granted(user, LOCK, op.pattern()));
      case REVOKE_FORCE -> revoke(new Granted(user, FORCE, op.pattern()));
      case GRANT_MANAGE -> known ? grantManage(user) : "refused";
      case REVOKE_MANAGE -> revoke(manage(user));
      case GRANT_UPDATE -> known ? done(writers.add(user)) : "refused";
      case REVOKE_UPDATE -> known ? done(writers.remove(user)) : "refused";
      case MAKE_ADMINISTRATOR -> known ? done(!users.replace(user, true)) : "refused";
      case MAKE_ORDINARY -> known ? done(users.replace(user, false)) : "refused";
      case LIMIT_WORK -> {
        count(known ? "work limits set" : "work limits refused");
        yield known ? "0" : "refused";
      }
      case LOCK_USER -> known && !user.equals(by) ? lock(user) : "refused";
      case UNLOCK_USER -> known ? done(locked.remove(user)) : "refused";
      case EXPIRE_USER -> known ? done(expire(user, op.expiryMicros())) : "refused";
      case KEEP_USER -> known ? done(expiries.remove(user) != null) : "refused";
      default -> throw new IllegalArgumentException("not about users: " + op);
    };
  }

  private String lock(String user) {
    count("users locked");
    locked.add(user);
    numbers.put(user, ++lastNumber);
    return "0";
  }

  private boolean expire(String user, long atMicros) {
    count("users made to expire");
    expiries.put(user, atMicros);
    return true;
  }

  private String drop(String user) {
    if (users.remove(user) != null) {
      locked.remove(user);
      expiries.remove(user);
      count("users dropped");
      granted.removeIf(one -> one.user.equals(user));
      writers.remove(user);
    }
    return "0";
  }

  private String grantManage(String user) {
    count("lock managers made");
    return grant(manage(user));
  }

  private String grant(Granted right) {
    return done(granted.add(right));
  }

  private String revoke(Granted right) {
    return done(granted.remove(right));
  }

  private String done(boolean anything) {
    if (anything) {
      count("rights changed");
    }
    return "0";
  }

  void count(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  /** How often things happened. */
  Map<String, Long> counts() {
    return Collections.unmodifiableMap(counts);
  }
}
