package dev.tollgate.store.h2;

import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * A part of the definitions of a database, as a snapshot has it. The parts of a database are made
 * in this order: what others name, then views, then expressions, then what evaluates expressions.
 * Each part needs only parts that come before it, so one pass makes them all.
 */
public sealed interface StoredDefinition permits StoredObject, StoredView, StoredExpression {
  /** Returns the number that H2 has given to the object; 0 for a part of another object. */
  int id();

  /** Returns the SQL that this part stands for; no other part has the same. */
  String sql();

  /** Returns the SQL that has to be the same on every replica, or null. */
  @Nullable String comparable();

  /** Names the object in messages. */
  String name();

  /**
   * Makes this part in a database that has all parts before it.
   *
   * @param session of the administrator, in H2's quirks mode
   * @param id the number that the object gets; 0 for one of H2's choice
   * @throws DbException if H2 cannot make the part
   */
  void make(SessionLocal session, int id);
}
