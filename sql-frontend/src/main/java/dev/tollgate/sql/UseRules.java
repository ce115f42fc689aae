package dev.tollgate.sql;

import dev.tollgate.sql.Findings.FunctionUse;
import dev.tollgate.sql.Findings.LockUse;
import dev.tollgate.sql.Findings.TableUse;
import dev.tollgate.sql.Findings.TargetUse;
import dev.tollgate.sql.Findings.TooDear;
import java.util.Set;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/** What a statement may do, depending on where its expressions are evaluated. */
final class UseRules {

  /** Where and when the expressions of a statement are evaluated. */
  enum Role {
    /** One node evaluates them, for one client. */
    READ,
    /** Every replica evaluates them, when it applies the statement. */
    CHANGE,
    /** Every replica keeps them, and evaluates them with later changes. */
    DEFINITION,
    /** Every replica keeps them, and evaluates them with later queries. */
    VIEW,
    /** One node evaluates them, to learn the arguments of a lock function. */
    ARGUMENTS;

    boolean isReplicated() {
      return this == CHANGE || this == DEFINITION || this == VIEW;
    }

    boolean mayChangeState() {
      return this == CHANGE || this == DEFINITION;
    }
  }

  /** The users that the store itself has. */
  private static final Set<String> USERS = Set.of("TOLLGATE", "TOLLGATE_SYSTEM");

  /** The role that every user has. */
  private static final String PUBLIC = "PUBLIC";

  private final Findings findings;
  private final Role role;

  private UseRules(Findings findings, Role role) {
    this.findings = findings;
    this.role = role;
  }

  /**
   * @throws SqlRefused for the first rule that is broken
   */
  static void check(Findings findings, Role role) {
    UseRules rules = new UseRules(findings, role);
    findings.targets().forEach(UseRules::checkTarget);
    findings.rights().forEach(UseRules::checkTarget);
    findings.locks().forEach(rules::checkLock);
    findings.functions().forEach(rules::checkFunction);
    if (role.isReplicated()) {
      findings.reads().forEach(UseRules::checkRead);
      findings.rowIds().forEach(UseRules::refuseRowId);
      for (TooDear use : findings.tooDear()) {
        throw Refusals.notAllowed(use.position(), use.sentence());
      }
    }
    rules.checkChanges();
  }

  /**
   * Refuses a statement about a user that no client may create, alter or drop.
   *
   * @param name in upper case
   */
  static void checkUser(String name, SqlParserPos position) {
    if (USERS.contains(name)) {
      throw Refusals.notAllowed(
          position,
          name
              + " is a user of the node itself: no statement creates, alters or drops it; write"
              + " another name");
    }
    if (name.equals(PUBLIC)) {
      throw Refusals.notAllowed(
          position, "PUBLIC is no user but the role that every user has: write another name");
    }
  }

  private static void checkTarget(TargetUse use) {
    Target target = use.target();
    if (target.kind() == ObjectKind.ROLE && USERS.contains(Names.upperCase(target.name().name()))) {
      throw Refusals.notAllowed(
          use.position(),
          target.name()
              + " is a user of the node itself: it can be given no rights and lose none; name"
              + " another user, a role or PUBLIC");
    }
    boolean isReservedSchema =
        target.kind() == ObjectKind.SCHEMA && ObjectName.isReservedSchema(target.name().name());
    if (isReservedSchema || target.name().isInReservedSchema()) {
      throw Refusals.notAllowed(
          use.position(),
          target.name()
              + " cannot be changed: TOLLGATE and INFORMATION_SCHEMA show the state of the node,"
              + " and are read only");
    }
  }

  private static void checkRead(TableUse use) {
    if (use.table().isInReservedSchema()) {
      throw Refusals.notAllowed(
          use.position(),
          use.table()
              + " cannot be read in a statement that writes: it is not the same on every"
              + " replica; query it first, and pass what you found as parameters");
    }
  }

  private static void refuseRowId(SqlParserPos position) {
    throw Refusals.notAllowed(
        position,
        "_ROWID_ is not allowed in a statement that writes, except to compare two of them: a row"
            + " has another one on another replica; use the primary key");
  }

  private void checkFunction(FunctionUse use) {
    FunctionRule rule = use.rule();
    boolean refused =
        switch (rule.use()) {
          case ALLOWED, BOUNDED, PINNED -> false;
          case ORDERED -> role.isReplicated() && !use.ordered();
          case SESSION, READ_ONLY -> role.isReplicated();
          case REFUSED -> true;
        };
    if (refused) {
      String where = rule.use() == FunctionRule.Use.REFUSED ? "" : " in a statement that writes";
      throw Refusals.notAllowed(
          use.position(),
          "function " + rule.name() + " is not allowed" + where + ": " + rule.explanation());
    }
  }

  private void checkLock(LockUse use) {
    LockFunction function = use.function();
    if (function.mustStandAlone()) {
      throw Refusals.notAllowed(
          use.position(),
          function
              + " must be the whole statement: write SELECT "
              + function.signature()
              + ", VALUES or CALL, with nothing else in it");
    }
    if (role == Role.DEFINITION || role == Role.VIEW) {
      throw Refusals.notAllowed(
          use.position(),
          function + " is not allowed in a definition: it would be called with every later use");
    }
    if (function.changesState() && role == Role.ARGUMENTS) {
      throw Refusals.notAllowed(
          use.position(),
          function
              + " is not allowed as an argument: call it first, and pass its result as a"
              + " parameter");
    }
  }

  private void checkChanges() {
    if (!role.mayChangeState()) {
      String where = role == Role.VIEW ? "in a view" : "here";
      refuseIfPresent(
          findings.advancedSequence(),
          "NEXT VALUE FOR is not allowed " + where + ": it changes the sequence");
      refuseIfPresent(
          findings.deltaTable(),
          "FINAL, OLD or NEW TABLE is not allowed " + where + ": it changes a table");
    }
    if (role == Role.DEFINITION) {
      refuseIfPresent(
          findings.deltaTable(),
          "FINAL, OLD or NEW TABLE is not allowed in DDL: change the table first");
    }
  }

  private static void refuseIfPresent(@Nullable SqlParserPos position, String sentence) {
    if (position != null) {
      throw Refusals.notAllowed(position, sentence);
    }
  }
}
