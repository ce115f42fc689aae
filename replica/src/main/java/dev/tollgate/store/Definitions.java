package dev.tollgate.store;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.h2.CatalogChanges;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.fence.FencedTables;
import dev.tollgate.store.fence.KeyWatches;
import dev.tollgate.store.h2.ChangedRows;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Rights;
import dev.tollgate.store.h2.H2Sessions;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.h2.ReplicaFailure;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.TimeZones;
import dev.tollgate.store.h2.Touched;
import dev.tollgate.store.limits.ActionDepth;
import dev.tollgate.store.limits.RowBytes;
import dev.tollgate.store.limits.ScanMeters;
import dev.tollgate.store.limits.Views;
import dev.tollgate.store.statement.ReaderGate;
import dev.tollgate.store.statement.StoreCommand;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.h2.command.ddl.AlterDomainAddConstraint;
import org.h2.command.ddl.CreateTable;
import org.h2.command.ddl.CreateView;
import org.h2.command.ddl.GrantRevoke;
import org.h2.command.dml.Insert;
import org.h2.command.query.Query;
import org.h2.constraint.ConstraintDomain;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.message.DbException;
import org.h2.table.Table;
import org.h2.util.TimeZoneProvider;
import org.jspecify.annotations.Nullable;

/**
 * Runs the definitions of the log. Each definition is its own transaction, and waits for
 * transactions that use what it changes.
 */
final class Definitions {
  private final H2Database database;
  private final ReaderGate gate;
  private final FencedTables fencedTables;
  private final TransactionSessions transactions;
  private final ActionDepth.Counters actions;
  private final RowBytes.Counters bytes;
  private final ChangedRows changed;
  private final Views views;
  private final Restorable restorable;
  private final OwnerRights owners;
  private final KeyWatches keys;

  /**
   * @param keys is told which tables there are
   * @param changed is told what definitions have made
   * @param owners is told that definitions have changed
   */
  Definitions(
      H2Database database,
      ReaderGate gate,
      FencedTables fencedTables,
      TransactionSessions transactions,
      KeyWatches keys,
      ChangedRows changed,
      OwnerRights owners) {
    this.database = database;
    this.gate = gate;
    this.fencedTables = fencedTables;
    this.transactions = transactions;
    this.keys = keys;
    this.changed = changed;
    this.owners = owners;
    views = new Views(database);
    restorable = new Restorable(database, views);
    actions = new ActionDepth.Counters(database);
    bytes = new RowBytes.Counters(database);
    Touched everything = Touched.everything(database);
    restorable.follow(everything);
    SessionLocal session = database.openSession();
    countAll(everything);
    HiddenConstraint.arrange(everything.tables());
    session.close();
  }

  /**
   * Runs a definition.
   *
   * @param command the definition with its parameters set
   * @param written the tables that the definition changes
   * @throws DbException if H2 refuses the definition; nothing has changed then
   */
  Outcome run(
      Operation.ExecuteSql statement,
      StoreCommand command,
      Collection<Table> written,
      SqlContext context,
      SessionLocal session) {
    List<Table> taken = new ArrayList<>(written);
    taken.addAll(ReferencedTables.of(session, statement.sql()));
    SessionId user = transactions.userOf(taken, schemas(statement));
    if (user != null) {
      return new Outcome.Conflict(user);
    }
    // it remembers what it has read of expressions, and has not read those of a snapshot
    Meter.uncounted(
        () -> {
          restorable.require(session, command.prepared(), statement);
          return true;
        });
    Outcome.Refused rows = fencedTables.admitRows(session, command.prepared(), statement, context);
    if (rows != null) {
      return rows;
    }
    return LoggedStatements.updated(define(statement, command, context, session));
  }

  /**
   * Answers a definition that changes nothing. The definition needs no token and waits for no
   * transaction: an application that creates its schema at each start holds no lock then. If the
   * definition presents a token all the same, the token must be current, unless it is monotonic.
   */
  Outcome confirm(
      Operation.ExecuteSql statement,
      Operation.@Nullable StatementFence shown,
      SqlContext context,
      SessionLocal session) {
    boolean current = shown != null && !shown.monotonic();
    Outcome.Refused refused = context.admit(current ? shown : null, List.of());
    Operation.FenceTerms binding = statement.binding();
    Table existing = binding == null ? null : target(statement, session);
    if (refused == null && binding != null && existing != null) {
      refused = alreadyThere(existing, binding, context);
    }
    return refused == null ? LoggedStatements.updated(0) : refused;
  }

  private void countAll(Touched touched) {
    actions.follow(touched.tables());
    keys.follow(touched.tables());
    bytes.follow(touched.tables());
  }

  /** The schemas that a definition changes as a whole. */
  private static List<String> schemas(Operation.ExecuteSql statement) {
    List<String> names = new ArrayList<>();
    for (Operation.DefinitionTarget target : statement.targets()) {
      if (target.kind() == Operation.DefinitionTarget.Kind.SCHEMA) {
        names.add(target.name().name());
      }
    }
    return names;
  }

  private static @Nullable Table target(Operation.ExecuteSql statement, SessionLocal session) {
    return FencedTables.find(session, statement.targets().get(0).name());
  }

  /** Requires this fence of an existing table: CREATE TABLE IF NOT EXISTS keeps its fence. */
  private Outcome.@Nullable Refused alreadyThere(
      Table table, Operation.FenceTerms wanted, SqlContext context) {
    FenceId fence = fencedTables.fenceOf(table);
    boolean same = fence != null && context.termsOf(fence).equals(wanted);
    return same
        ? null
        : new Outcome.Refused(
            RefusalCode.FENCE_STATE,
            "table "
                + FencedTables.nameOf(table)
                + " exists and is not fenced as stated: use ALTER TABLE ... FENCED BY LOCK");
  }

  /**
   * Runs a definition while no reader is inside the gate.
   *
   * <p>H2 commits a definition, so nothing can roll it back. What H2 does before it refuses a
   * definition is undone by {@link DefinitionUndo}, and a fence that a new table cannot have takes
   * the table with it. What follows a definition that H2 has carried out ({@link #follow}) refuses
   * nothing: an exception there is a failure of the replica.
   *
   * @return the number of rows that it changed
   */
  private long define(
      Operation.ExecuteSql statement,
      StoreCommand command,
      SqlContext context,
      SessionLocal session) {
    gate.closeForDefinition();
    try {
      // nothing is ended in the middle of a definition, except what fills or checks its rows
      return Meter.uncounted(() -> carryOut(statement, command, context, session));
    } finally {
      CatalogChanges.end();
      owners.definitionsChanged();
      gate.open();
    }
  }

  private long carryOut(
      Operation.ExecuteSql statement,
      StoreCommand command,
      SqlContext context,
      SessionLocal session) {
    CatalogChanges changes = CatalogChanges.begin();
    DefinitionUndo undo = new DefinitionUndo(session, command.prepared(), changes);
    long count;
    try {
      count = runInH2(statement, command, context, session);
      session.commit(true);
      bindNew(statement, context, session);
      asClient(
          session,
          () -> {
            remake(Touched.by(changes), session);
            restorable.requireFewSubqueries();
          });
      if (command.prepared() instanceof CreateTable definition
          && H2Statements.isFromQuery(definition)) {
        restorable.requireTypes(H2Definitions.tableOf(session, definition));
      }
    } catch (RuntimeException e) {
      SqlErrors.requireFunctionOfLog(e);
      asClient(session, undo::run);
      following(session, () -> remake(Touched.by(changes), session));
      follow(statement, Touched.by(changes), context, session);
      throw e;
    }
    follow(statement, Touched.by(changes), context, session);
    context.completed();
    return count;
  }

  /** Makes views and expressions again that read what the definition has touched. */
  private void remake(Touched touched, SessionLocal session) {
    views.follow(touched, session);
    restorable.follow(touched);
  }

  private long runInH2(
      Operation.ExecuteSql statement,
      StoreCommand command,
      SqlContext context,
      SessionLocal session) {
    if (!RoleStatements.isOne(command.prepared())) {
      return execute(command, session);
    }
    if (command.prepared() instanceof GrantRevoke grant) {
      RoleStatements.requireShort(statement.sql());
      RoleStatements.requireFewWays(session.getDatabase(), grant);
    }
    if (!H2Rights.mayAlterAnySchema(session.getUser())) {
      return execute(command, session);
    }
    administrate(statement, context);
    return 0;
  }

  /**
   * Brings what belongs to the definitions up to date: fences with their guards, and counters. None
   * of this refuses anything. A guard that cannot be made is a closed one.
   */
  private void follow(
      Operation.ExecuteSql statement, Touched touched, SqlContext context, SessionLocal session) {
    following(
        session,
        () -> {
          database.dropLostComments(touched);
          fencedTables.follow(session, context);
          countAll(touched);
          changed.defined(statement.targets(), touched, session);
          HiddenConstraint.arrange(touched.tables());
        });
  }

  /** Runs what cannot be refused any more. */
  private void following(SessionLocal session, Runnable work) {
    try {
      asClient(session, work);
    } catch (RuntimeException e) {
      throw new ReplicaFailure("what follows a definition failed", e);
    }
  }

  /**
   * Runs work as the user with all rights on what clients have made, and in UTC, as a restored
   * replica does what this work does.
   */
  private void asClient(SessionLocal session, Runnable work) {
    User user = H2Sessions.become(session, database.client());
    TimeZoneProvider zone = session.currentTimeZone();
    TimeZones.leave(session);
    try {
      work.run();
    } finally {
      session.setTimeZone(zone);
      H2Sessions.become(session, user);
    }
  }

  /** Fences a table that was made with a fence. */
  private void bindNew(Operation.ExecuteSql statement, SqlContext context, SessionLocal session) {
    Operation.FenceTerms wanted = statement.binding();
    Table created = wanted == null ? null : target(statement, session);
    if (wanted != null && created != null) {
      fencedTables.bind(created, wanted, context);
    }
  }

  private long execute(StoreCommand command, SessionLocal session) {
    if (command.prepared() instanceof CreateView definition) {
      definition.setForce(false);
    }
    if (command.prepared() instanceof CreateTable definition) {
      Query rows = H2Statements.takeQuery(definition);
      if (rows != null) {
        command.runAfter(() -> fill(command, session, definition, rows));
      }
    } else if (command.prepared() instanceof AlterDomainAddConstraint definition
        // with IF NOT EXISTS, H2 leaves a rule of that name alone
        && H2Definitions.ruleOf(session, definition) == null
        && H2Definitions.takeCheck(definition)) {
      command.runAfter(() -> check(session, definition));
    }
    return command.executeUpdate(null).getUpdateCount();
  }

  /**
   * Inserts the rows of CREATE TABLE ... AS. H2 would insert them within the definition, by a
   * separate statement that no meter reaches.
   */
  private void fill(
      StoreCommand command, SessionLocal session, CreateTable definition, Query rows) {
    Table made = Objects.requireNonNull(H2Definitions.tableOf(session, definition));
    bytes.follow(List.of(made));
    Insert filling = H2Statements.insertion(session, made, rows);
    command.meter().keeps(ScanMeters.attach(session, filling).keptBytes());
    Meter.counted(filling::update);
  }

  /** Checks a new rule of a domain against all of its values. */
  private void check(SessionLocal session, AlterDomainAddConstraint definition) {
    ConstraintDomain rule = H2Definitions.ruleOf(session, definition);
    if (rule == null) {
      return;
    }
    try {
      Meter.counted(
          () -> {
            rule.checkExistingData(session);
            return true;
          });
    } catch (RuntimeException e) {
      session.getDatabase().removeSchemaObject(session, rule);
      throw e;
    }
  }

  /** Runs the statement as the administrator. */
  private void administrate(Operation.ExecuteSql statement, SqlContext context) {
    SessionLocal administration = database.openAdministration();
    try {
      administration.setCurrentSchemaName(context.schema());
      administration.prepareCommand(statement.sql()).executeUpdate(null);
    } finally {
      administration.close();
    }
  }
}
