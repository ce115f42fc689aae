package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Hold;
import dev.tollgate.core.Lock;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.log.entry.Proposal;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What administrators and lock managers change in the console: releases of locks. Each is an
 * operation of a session of that user, which the log decides on and the audit records, as if the
 * user had called the lock function in SQL. The session ends after it. Thread-safe.
 */
final class ConsoleChanges {
  /** No form of a page of another address can send this header. */
  static final String HEADER = "X-Tollgate-Console";

  private static final int CONFLICT = 409;
  private static final long SESSION_MILLIS = 30_000;
  private static final SecureRandom SECRETS = new SecureRandom();

  /** A change that was not carried out. */
  private static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;
    private final int status;

    RefusedException(int status, String why) {
      super(why);
      this.status = status;
    }
  }

  /**
   * What the page sends.
   *
   * @param lease the holder; null if all holders are meant
   * @param token of a hold that the page showed
   */
  private record Form(LockName lock, @Nullable LeaseId lease, long token) {}

  private final NodeParts node;
  private final Duration patience;
  private final Semaphore room = new Semaphore(ConsoleLimits.CHANGES);

  ConsoleChanges(NodeParts node, ConsoleLimits limits) {
    this.node = requireNonNull(node, "node");
    this.patience = limits.changeTime();
  }

  List<Route> routes() {
    return List.of(
        new Route(
            "POST",
            "/console/release",
            Audience.LOCK_MANAGERS,
            request -> change(request, /* force= */ false)),
        new Route(
            "POST",
            "/console/force-release",
            Audience.LOCK_MANAGERS,
            request -> change(request, /* force= */ true)));
  }

  private Answer change(AdminRequest request, boolean force) {
    if (!room.tryAcquire()) {
      return Answer.text(
          Answer.UNAVAILABLE,
          ConsoleLimits.CHANGES + " changes of the console are under way, as many as may be");
    }
    try {
      Form form = form(request, force);
      requireLeader();
      requireHold(form);
      return Answer.text(Answer.OK, perform(request, form));
    } catch (RefusedException e) {
      return Answer.text(e.status, requireNonNull(e.getMessage()));
    } finally {
      room.release();
    }
  }

  private static Form form(AdminRequest request, boolean force) throws RefusedException {
    if (request.header(HEADER) == null) {
      throw new RefusedException(Answer.BAD_REQUEST, "the request has no header " + HEADER);
    }
    if (request.body().length > ConsoleLimits.CHANGE_BYTES) {
      throw new RefusedException(
          Answer.TOO_LARGE,
          "the body of the request has more than " + ConsoleLimits.CHANGE_BYTES + " bytes");
    }
    try {
      Map<String, String> fields =
          ConsoleForm.decode(new String(request.body(), StandardCharsets.UTF_8));
      LockName lock = new LockName(field(fields, "lock"));
      long token = Long.parseLong(field(fields, "token"));
      return new Form(
          lock, force ? null : new LeaseId(Long.parseLong(field(fields, "lease"))), token);
    } catch (IllegalArgumentException e) {
      throw new RefusedException(
          Answer.BAD_REQUEST,
          "the body of the request has to be a form with a lock, the token under which it is held"
              + (force ? "" : ", and the id of the lease that holds it")
              + ": "
              + e.getMessage());
    }
  }

  private static String field(Map<String, String> fields, String name) {
    String value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("there is no field " + name);
    }
    return value;
  }

  private void requireLeader() throws RefusedException {
    if (!node.replica().isLeading()) {
      String leader = node.log().status().leaderId();
      throw new RefusedException(
          Answer.UNAVAILABLE,
          "node "
              + node.nodeId()
              + " is not the leader, and nothing was done: "
              + (leader == null ? "no leader is known" : "use the console of node " + leader));
    }
  }

  /**
   * Refuses a change of a hold that has ended since the page was shown. A hold that ends between
   * this check and the entry is not noticed by a forced release, which has no token to compare.
   */
  private void requireHold(Form form) throws RefusedException {
    CompletableFuture<Boolean> there = new CompletableFuture<>();
    node.replica()
        .state()
        .ask(state -> there.complete(isThere(state.lock(form.lock()), form.lease(), form.token())));
    if (!await(there, "the node applies a long entry: nothing was done, try again later")) {
      throw new RefusedException(CONFLICT, ended(form));
    }
  }

  private static boolean isThere(@Nullable Lock lock, @Nullable LeaseId lease, long token) {
    if (lock != null) {
      for (Hold hold : lock.holds()) {
        if (hold.token().value() == token && (lease == null || hold.lease().id().equals(lease))) {
          return true;
        }
      }
    }
    return false;
  }

  private static String ended(Form form) {
    return "lock '"
        + form.lock()
        + "' is no longer held under token "
        + form.token()
        + ": nothing was done";
  }

  private String perform(AdminRequest request, Form form) throws RefusedException {
    Outcome opened =
        submit(
            new Command.OpenSession(
                new ClientInfo("tollgate console", request.from().getHostAddress(), ""),
                secret(),
                SESSION_MILLIS,
                SESSION_MILLIS,
                ConsoleView.viewer(request.caller())));
    if (!(opened instanceof Outcome.SessionOpened session)) {
      throw refusal(opened);
    }
    try {
      return release(session.session(), form);
    } finally {
      node.pipeline().submit(new Command.CloseSession(session.session()), Proposal.Listener.NOBODY);
    }
  }

  private String release(SessionId session, Form form) throws RefusedException {
    LeaseId lease = form.lease();
    Operation operation =
        lease == null
            ? new Operation.ForceReleaseLock(form.lock())
            : new Operation.ReleaseLock(form.lock(), lease, /* keepMillis= */ 0);
    Outcome outcome = submit(new Command.Perform(session, 1, operation));
    if (!(outcome instanceof Outcome.Answered answered)) {
      throw refusal(outcome);
    }
    if (!answered.answer()) {
      throw new RefusedException(CONFLICT, ended(form));
    }
    return lease == null
        ? "lock '" + form.lock() + "' was taken from all its holders"
        : "lock '" + form.lock() + "' was released for lease " + lease;
  }

  private static long secret() {
    long secret = SECRETS.nextLong();
    return secret == Command.OpenSession.NO_SECRET ? 1 : secret;
  }

  private static RefusedException refusal(Outcome outcome) {
    return outcome instanceof Outcome.Refused refused
        ? new RefusedException(CONFLICT, refused.message())
        : new RefusedException(CONFLICT, "the cluster answered " + outcome);
  }

  private Outcome submit(Command command) throws RefusedException {
    CompletableFuture<Result> result = new CompletableFuture<>();
    node.pipeline()
        .submit(
            command,
            new Proposal.Listener() {
              @Override
              public void applied(Outcome outcome) {
                result.complete(new Result(outcome, ""));
              }

              @Override
              public void unknown() {
                result.complete(
                    new Result(
                        null,
                        "the node lost leadership: it is unknown whether the lock was released"));
              }

              @Override
              public void refused(String why) {
                result.complete(new Result(null, why));
              }
            });
    Result known =
        await(result, "the cluster has not answered: it is unknown whether the lock was released");
    if (known.outcome() == null) {
      throw new RefusedException(Answer.UNAVAILABLE, known.why());
    }
    return known.outcome();
  }

  private record Result(@Nullable Outcome outcome, String why) {}

  private <T> T await(CompletableFuture<T> answer, String otherwise) throws RefusedException {
    try {
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new RefusedException(Answer.UNAVAILABLE, otherwise);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(Answer.UNAVAILABLE, otherwise);
    }
  }
}
