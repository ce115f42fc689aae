package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.sql.Argument;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the operations of statements about users. A password becomes a verifier here, so it is in
 * no log entry. Thread-safe.
 */
final class AccountStatements {
  private final Facts facts;
  private final PasswordRules rules;

  AccountStatements(Facts facts, PasswordRules rules) {
    this.facts = requireNonNull(facts, "facts");
    this.rules = requireNonNull(rules, "rules");
  }

  boolean isAdministrator(AttachedSession session) {
    return facts.isAdministrator(session.user());
  }

  /**
   * The operation of CREATE, ALTER and DROP USER and of SET PASSWORD. Computes a verifier, which
   * takes about a tenth of a second.
   *
   * @throws SQLException if a name or a password is invalid
   */
  Operation configure(Plan.ConfigureUser plan, AttachedSession session, List<SqlValue> parameters)
      throws SQLException {
    UserName named = plan.user() == null ? null : name(plan.user());
    UserName user = named == null ? session.user() : named;
    boolean own =
        user.equals(session.user()) && plan.change() == Plan.ConfigureUser.Change.SET_PASSWORD;
    Argument argument = plan.password();
    if (argument != null && user.equals(session.user())) {
      requireLoginByPassword(session);
    }
    if (argument != null && !own && !isAdministrator(session)) {
      // the log decides, but only administrators may have a node compute a verifier for that
      throw SqlErrors.exception(
          SqlState.RIGHT_MISSING,
          "only an administrator may create, alter and drop users, and user "
              + session.user()
              + " is none");
    }
    String password =
        argument == null ? null : PlanArguments.value(argument, parameters).textOrNull();
    if (argument != null && password == null) {
      throw SqlErrors.invalid("the password is NULL: leave it out for a user without one");
    }
    String bad = password == null ? null : rules.refusal(user.value(), password);
    if (bad != null) {
      throw SqlErrors.invalid("the password is refused: " + bad);
    }
    return switch (plan.change()) {
      case CREATE ->
          new Operation.CreateUser(
              new UserAccount(
                      user,
                      plan.administrator(),
                      password == null ? List.of() : List.of(verifier(password, null)))
                  .with(plan.workLimit() == 0 ? Limits.ORDINARY_WORK : plan.workLimit())
                  .validUntil(
                      plan.validUntilMicros() == 0 ? UserAccount.ALWAYS : plan.validUntilMicros()),
              plan.lenient());
      case SET_PASSWORD ->
          alter(
              named,
              plan.endsSessions()
                  ? Operation.AlterUser.Change.SET_PASSWORD_AND_END_SESSIONS
                  : Operation.AlterUser.Change.SET_PASSWORD,
              verifier(text(password), null));
      case ADD_PASSWORD ->
          alter(
              named,
              Operation.AlterUser.Change.ADD_PASSWORD,
              verifier(text(password), facts.user(user)));
      case DROP_OLD_PASSWORD -> alter(named, Operation.AlterUser.Change.DROP_OLD_PASSWORD, null);
      case SET_ADMINISTRATOR ->
          alter(
              named,
              plan.administrator()
                  ? Operation.AlterUser.Change.MAKE_ADMINISTRATOR
                  : Operation.AlterUser.Change.MAKE_ORDINARY,
              null);
      case LOCK_ACCOUNT -> alter(named, Operation.AlterUser.Change.LOCK_ACCOUNT, null);
      case UNLOCK_ACCOUNT -> alter(named, Operation.AlterUser.Change.UNLOCK_ACCOUNT, null);
      case SET_VALIDITY -> Operation.AlterUser.validUntil(user, plan.validUntilMicros());
      case SET_WORK_LIMIT -> Operation.AlterUser.workLimit(user, plan.workLimit());
      case DROP -> new Operation.DropUser(user, plan.lenient());
    };
  }

  /**
   * A login that others vouch for sets no password for its own user: with a password, the user
   * would come in when they no longer do.
   *
   * @throws SQLException with 42501 after such a login
   */
  private static void requireLoginByPassword(AttachedSession session) throws SQLException {
    LoginMethod method = session.method();
    if (method != null && method != LoginMethod.SCRAM) {
      throw SqlErrors.exception(
          SqlState.RIGHT_MISSING,
          "user "
              + session.user()
              + " has logged in by "
              + method.word()
              + ", and such a login sets no password for its own user: log in by the password that"
              + " the user has, or have another user that is an administrator ALTER USER "
              + session.user()
              + " SET PASSWORD '...'");
    }
  }

  private static String text(@Nullable String password) {
    return requireNonNull(password, "password");
  }

  private static Operation alter(
      @Nullable UserName user, Operation.AlterUser.Change change, @Nullable String verifier) {
    return new Operation.AlterUser(user, change, verifier);
  }

  /**
   * @param valid the user whose newest password is to stay valid beside this one, or null
   */
  private static String verifier(String password, @Nullable UserAccount valid) throws SQLException {
    try {
      return valid == null || valid.verifiers().isEmpty()
          ? PasswordVerifier.of(password).text()
          : PasswordVerifier.parse(valid.verifiers().get(0)).beside(password).text();
    } catch (IllegalArgumentException e) {
      throw SqlErrors.invalid("the password cannot be used: " + e.getMessage());
    }
  }

  private static UserName name(String name) throws SQLException {
    if (!UserName.isValid(name)) {
      throw SqlErrors.invalid("a user has a name of 1 to 128 characters, not " + name.length());
    }
    return new UserName(name);
  }
}
