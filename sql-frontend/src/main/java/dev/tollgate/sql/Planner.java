package dev.tollgate.sql;

import dev.tollgate.sql.Findings.TableUse;
import dev.tollgate.sql.Findings.TargetUse;
import dev.tollgate.sql.SqlRefused.Reason;
import dev.tollgate.sql.UseRules.Role;
import dev.tollgate.sql.tree.Definition;
import dev.tollgate.sql.tree.FenceClause;
import dev.tollgate.sql.tree.LockClause;
import dev.tollgate.sql.tree.Statement;
import java.util.List;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/** Makes the plan of one statement. */
final class Planner implements Statement.Handler<Plan> {

  private final Tokens tokens;
  private final Findings findings = new Findings();
  private final H2Text text;

  private Planner(Tokens tokens) {
    this.tokens = tokens;
    this.text = new H2Text(tokens);
  }

  static Plan plan(String sql) {
    if (sql.length() > SqlLimits.STATEMENT_LENGTH) {
      throw new SqlRefused(
          Reason.TOO_LONG,
          1,
          1,
          "a statement has at most "
              + SqlLimits.STATEMENT_LENGTH
              + " characters, this one has "
              + sql.length());
    }
    requireWellFormed(sql);
    Tokens tokens = Tokens.of(sql);
    if (tokens.size() == 0) {
      return new Plan.Nothing(0);
    }
    try {
      return plan(tokens);
    } catch (SqlRefused refused) {
      throw tokens.withoutPassword(refused);
    }
  }

  private static Plan plan(Tokens tokens) {
    NestingGuard.check(tokens);
    if (StatementRules.check(tokens).ignored()) {
      return new Plan.Nothing(tokens.parameterCount());
    }
    return StatementReader.read(tokens).handledBy(new Planner(tokens));
  }

  /** Refuses an unpaired surrogate: no file of SQL could hold a name or a comment with it. */
  private static void requireWellFormed(String sql) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < sql.length(); i += Character.charCount(sql.codePointAt(i))) {
      int character = sql.codePointAt(i);
      if (Character.MIN_SURROGATE <= character && character <= Character.MAX_SURROGATE) {
        throw new SqlRefused(
            Reason.SYNTAX,
            line,
            column,
            "half of a character, an unpaired surrogate, is not allowed in a statement: send it as"
                + " the value of a parameter");
      }
      column = character == '\n' ? 1 : column + 1;
      line += character == '\n' ? 1 : 0;
    }
  }

  @Override
  public Plan query(Statement.Query query) {
    Plan.LockCall lockCall =
        query.forUpdate() == null ? LockCalls.ofQuery(tokens, query.query()) : null;
    if (lockCall != null) {
      return lockCall;
    }
    TreeWalk.expression(tokens, query.query(), findings);
    return query.forUpdate() != null || findings.changesState() ? queryThatWrites() : read();
  }

  @Override
  public Plan call(Statement.Call call) {
    Plan.LockCall lockCall = LockCalls.ofCall(tokens, call.expression(), call.outParameter());
    if (lockCall != null) {
      return lockCall;
    }
    Plan.Administer administer = ProcedureCalls.of(tokens, call.expression(), call.outParameter());
    if (administer != null) {
      return administer;
    }
    TreeWalk.expression(tokens, call.expression(), findings);
    return findings.changesState() ? queryThatWrites() : read();
  }

  @Override
  public Plan show(Statement.Show show) {
    return read();
  }

  @Override
  public Plan script(Statement.Script script) {
    if (script.file() != null) {
      throw Refusals.notAllowed(
          script.file(),
          "SCRIPT TO is not allowed: it writes a file on one replica; "
              + StatementRules.SCRIPT_INSTEAD);
    }
    for (SqlIdentifier schema : script.schemas()) {
      if (ObjectName.isReservedSchema(schema.getSimple())) {
        throw Refusals.notAllowed(
            schema.getParserPosition(),
            "schema " + schema.getSimple() + " is in no script: every node has its own");
      }
    }
    return readPlan();
  }

  @Override
  public Plan explain(Statement.Explain explain) {
    Statement explained = explain.explained();
    boolean changes;
    if (explained instanceof Statement.Change change) {
      TreeWalk.expression(tokens, change.change(), findings);
      fence(change.fence());
      lockedBy(change.lock());
      changes = true;
    } else {
      Statement.Query query = (Statement.Query) explained;
      TreeWalk.expression(tokens, query.query(), findings);
      changes = query.forUpdate() != null || findings.changesState();
    }
    if (changes && explain.analyze() != null) {
      throw Refusals.notAllowed(
          explain.analyze(),
          "EXPLAIN ANALYZE runs the statement, so it is for pure queries alone: write EXPLAIN");
    }
    findings.locks().stream()
        .filter(use -> use.function().changesState())
        .findFirst()
        .ifPresent(
            use -> {
              throw Refusals.notSupported(
                  use.position(), use.function() + " cannot be explained: it has no plan");
            });
    UseRules.check(findings, changes ? Role.CHANGE : Role.READ);
    return readPlan();
  }

  @Override
  public Plan change(Statement.Change change) {
    TreeWalk.expression(tokens, change.change(), findings);
    UseRules.check(findings, Role.CHANGE);
    return write(WriteKind.DML, false, fence(change.fence()), null, lockedBy(change.lock()));
  }

  @Override
  public Plan define(Statement.Define define) {
    Definition definition = define.definition();
    gather(definition);
    if (definition.isView() && findings.prepared() > SqlLimits.PREPARATION_OF_A_VIEW) {
      throw Refusals.tooLong(
          findings.queries().get(0),
          "too many derived tables in one another, or too long ones, for a view: nest at most 4, or"
              + " make a view of one of them");
    }
    UseRules.check(findings, definition.isView() ? Role.VIEW : Role.DEFINITION);
    return switch (definition.binding()) {
      case BOUND, UNBOUND -> binding(definition);
      case UNCHANGED -> definition(definition);
    };
  }

  @Override
  public Plan setSession(Statement.SetSession setSession) {
    return Settings.plan(tokens, setSession);
  }

  @Override
  public Plan presentToken(Statement.PresentToken presentToken) {
    return new Plan.PresentToken(
        Fences.lock(presentToken.lock()),
        Fences.tokenOrNull(presentToken.token()),
        tokens.parameterCount());
  }

  @Override
  public Plan fenceSession(Statement.FenceSession fenceSession) {
    FenceClause fence = fenceSession.fence();
    return new Plan.FenceSession(
        fence == null ? null : Fences.ofSession(fence), tokens.parameterCount());
  }

  @Override
  public Plan configureLock(Statement.ConfigureLock configureLock) {
    SqlNode permits = configureLock.permits();
    return new Plan.ConfigureLock(
        Plan.ConfigureLock.Change.valueOf(configureLock.verb()),
        Fences.lock(configureLock.lock()),
        permits == null ? null : Fences.permits(permits),
        configureLock.lenient(),
        tokens.parameterCount());
  }

  @Override
  public Plan configureUser(Statement.ConfigureUser configureUser) {
    return Users.plan(tokens, configureUser);
  }

  @Override
  public Plan configureRight(Statement.ConfigureRight configureRight) {
    return Users.plan(tokens, configureRight);
  }

  @Override
  public Plan transact(Statement.Transact transact) {
    SqlIdentifier savepoint = transact.savepoint();
    return new Plan.Transaction(
        Plan.Transaction.Kind.valueOf(transact.verb()),
        savepoint == null ? null : savepoint.getSimple());
  }

  private void gather(Definition definition) {
    for (SqlIdentifier principal : definition.principals()) {
      Names.requireClear(tokens, principal);
    }
    for (Definition.Named named : definition.targets()) {
      findings.target(targetUse(named));
    }
    for (Definition.Named named : definition.rights()) {
      findings.rights(targetUse(named));
    }
    for (SqlIdentifier table : definition.reads()) {
      findings.read(new TableUse(Names.tableName(table), table.getParserPosition()));
    }
    for (SqlNode part : definition.parts()) {
      if (definition.isView()) {
        QueryWeight.checkView(part);
      }
      TreeWalk.expression(tokens, part, findings);
    }
  }

  private static TargetUse targetUse(Definition.Named named) {
    ObjectKind kind = ObjectKind.valueOf(named.kind().name());
    return new TargetUse(
        new Target(kind, Names.tableName(named.name())), named.name().getParserPosition());
  }

  /** Plans ALTER TABLE ... [NOT] FENCED, which H2 never sees. */
  private Plan binding(Definition definition) {
    for (FenceClause clause : definition.fences()) {
      throw Refusals.notSupported(
          clause.start(),
          "a statement that changes the fence of a table cannot be fenced itself: present the"
              + " token with SET");
    }
    ObjectName table = findings.targetList().get(0).name();
    FenceClause bound = definition.bound();
    return bound == null
        ? new Plan.UnfenceTable(table)
        : new Plan.FenceTable(table, Fences.ofTable(tokens, bound));
  }

  /**
   * Plans a definition: a CREATE TABLE may bind its table, and any definition may be fenced, in
   * this order.
   */
  private Plan definition(Definition definition) {
    TableFence tableFence = null;
    StatementFence fence = null;
    List<FenceClause> clauses = definition.fences();
    for (int i = 0; i < clauses.size(); i++) {
      FenceClause clause = clauses.get(i);
      text.cutFrom(clause.start());
      if (i == 0 && clause.token() == null && definition.isNewTable()) {
        tableFence = Fences.ofTable(tokens, clause);
      } else if (fence == null) {
        fence = Fences.ofStatement(clause);
      } else {
        throw Refusals.syntax(clause.start(), "a statement has one fence");
      }
    }
    return write(WriteKind.DDL, false, fence, tableFence, null);
  }

  private @Nullable StatementFence fence(@Nullable FenceClause clause) {
    if (clause == null) {
      return null;
    }
    text.cutFrom(clause.start());
    return Fences.ofStatement(clause);
  }

  private @Nullable Argument lockedBy(@Nullable LockClause clause) {
    if (clause == null) {
      return null;
    }
    text.cutFrom(clause.start());
    return Fences.lock(clause.lock());
  }

  private Plan read() {
    UseRules.check(findings, Role.READ);
    return readPlan();
  }

  private Plan readPlan() {
    TollgateFunctions.qualify(tokens, findings, text);
    return new Plan.Read(text.render(), tokens.parameterCount(), text.parameterCount());
  }

  private Plan queryThatWrites() {
    UseRules.check(findings, Role.CHANGE);
    return write(WriteKind.DML, true, null, null, null);
  }

  private Plan write(
      WriteKind kind,
      boolean returnsRows,
      @Nullable StatementFence fence,
      @Nullable TableFence tableFence,
      @Nullable Argument lockedBy) {
    TollgateFunctions.qualify(tokens, findings, text);
    return new Plan.Write(
        text.render(),
        tokens.parameterCount(),
        text.parameterCount(),
        kind,
        returnsRows,
        fence,
        findings.targetList(),
        tableFence,
        lockedBy,
        ShapeReader.read(tokens));
  }
}
