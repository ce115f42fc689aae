package dev.tollgate.sql.tree;

import java.util.List;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/** One parsed statement, by its kind. */
public sealed interface Statement {

  <R> R handledBy(Handler<R> handler);

  /**
   * One method for each kind of statement, so that a new kind breaks the build where it is not
   * handled.
   */
  interface Handler<R> {
    R query(Query query);

    R change(Change change);

    R define(Define define);

    R explain(Explain explain);

    R call(Call call);

    R show(Show show);

    R script(Script script);

    R setSession(SetSession setSession);

    R presentToken(PresentToken presentToken);

    R fenceSession(FenceSession fenceSession);

    R configureLock(ConfigureLock configureLock);

    R configureUser(ConfigureUser configureUser);

    R configureRight(ConfigureRight configureRight);

    R transact(Transact transact);
  }

  /**
   * A SELECT, VALUES or TABLE with everything that belongs to it.
   *
   * @param forUpdate the position of FOR UPDATE; null if there is none
   */
  record Query(SqlNode query, @Nullable SqlParserPos forUpdate) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.query(this);
    }
  }

  /** An INSERT, UPDATE, DELETE or MERGE, with at most one of the clauses. */
  record Change(DataChange change, @Nullable FenceClause fence, @Nullable LockClause lock)
      implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.change(this);
    }
  }

  /** A DDL statement. */
  record Define(Definition definition) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.define(this);
    }
  }

  /**
   * @param explained a {@link Query} or a {@link Change}
   * @param analyze the position of ANALYZE, which makes H2 run the statement; null if there is none
   */
  record Explain(Statement explained, @Nullable SqlParserPos analyze) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.explain(this);
    }
  }

  /**
   * CALL of an expression.
   *
   * @param outParameter whether {@code ? =} stands in front
   */
  record Call(SqlNode expression, boolean outParameter) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.call(this);
    }
  }

  /** SHOW of something in the catalog. */
  record Show() implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.show(this);
    }
  }

  /**
   * SCRIPT: the committed state, as SQL.
   *
   * @param schemas the schemas to which it is limited; empty for all
   * @param file the position of TO; null if there is none
   */
  record Script(List<SqlIdentifier> schemas, @Nullable SqlParserPos file) implements Statement {
    public Script {
      schemas = List.copyOf(schemas);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.script(this);
    }
  }

  /**
   * SET of a session property.
   *
   * @param setting a name of {@code dev.tollgate.sql.Setting}
   * @param value a literal, a parameter or an identifier; null for SET TIME ZONE LOCAL
   */
  record SetSession(String setting, @Nullable SqlNode value) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.setSession(this);
    }
  }

  /** SET FENCING TOKEN token FOR LOCK lock. */
  record PresentToken(SqlNode lock, SqlNode token) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.presentToken(this);
    }
  }

  /**
   * SET FENCED BY LOCK lock TOKEN token, or SET NOT FENCED.
   *
   * @param fence null for SET NOT FENCED
   */
  record FenceSession(@Nullable FenceClause fence) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.fenceSession(this);
    }
  }

  /**
   * CREATE, ALTER or DROP LOCK.
   *
   * @param verb a name of {@code dev.tollgate.sql.Plan.ConfigureLock.Change}
   * @param lenient whether the statement says IF NOT EXISTS or IF EXISTS
   * @param permits null for DROP
   */
  record ConfigureLock(String verb, boolean lenient, SqlNode lock, @Nullable SqlNode permits)
      implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.configureLock(this);
    }
  }

  /**
   * CREATE, ALTER or DROP USER, or SET PASSWORD.
   *
   * @param verb a name of {@code dev.tollgate.sql.Plan.ConfigureUser.Change}, or RENAME
   * @param user null for SET PASSWORD
   * @param password a character literal or a parameter; null if there is none
   * @param endsSessions whether the statement says END SESSIONS
   * @param workLimit an integer literal; null if there is none
   * @param validUntil a character literal; null if there is none
   * @param lenient whether the statement says IF NOT EXISTS or IF EXISTS
   */
  record ConfigureUser(
      String verb,
      @Nullable SqlIdentifier user,
      @Nullable SqlNode password,
      boolean endsSessions,
      boolean administrator,
      @Nullable SqlNode workLimit,
      @Nullable SqlNode validUntil,
      boolean lenient)
      implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.configureUser(this);
    }
  }

  /**
   * GRANT or REVOKE of a right that H2 does not know.
   *
   * @param right a name of {@code dev.tollgate.sql.Plan.ConfigureRight.Right}
   * @param pattern a character literal or a parameter; null for all rights but LOCK and FORCE
   * @param sequence null for all rights but the one to use a sequence
   */
  record ConfigureRight(
      boolean grant,
      String right,
      @Nullable SqlNode pattern,
      @Nullable SqlIdentifier sequence,
      SqlIdentifier grantee)
      implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.configureRight(this);
    }
  }

  /**
   * BEGIN, COMMIT, ROLLBACK and the statements about savepoints.
   *
   * @param verb a name of {@code dev.tollgate.sql.Plan.Transaction.Kind}
   */
  record Transact(String verb, @Nullable SqlIdentifier savepoint) implements Statement {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.transact(this);
    }
  }
}
