package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.Text;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.store.h2.TimeZones;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one connection about sessions: opens a session or attaches one, and closes it.
 * Knows which session the connection has. The transport calls it one frame at a time; outcomes come
 * from any thread.
 */
final class SessionRequests {
  private static final SecureRandom SECRETS = new SecureRandom();

  private final Leadership leadership;
  private final TakeoverWaits takeovers;
  private final CommandPipeline pipeline;
  private final TimeKeeper timeKeeper;
  private final Facts facts;
  private final Cancellations cancellations;
  private final ReplyChannel replies;
  private final SessionOwners owners;
  private volatile @Nullable AttachedSession session;

  SessionRequests(
      Leadership leadership,
      TakeoverWaits takeovers,
      CommandPipeline pipeline,
      TimeKeeper timeKeeper,
      Facts facts,
      Cancellations cancellations,
      ReplyChannel replies,
      SessionOwners owners) {
    this.leadership = requireNonNull(leadership, "leadership");
    this.takeovers = requireNonNull(takeovers, "takeovers");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.facts = requireNonNull(facts, "facts");
    this.cancellations = requireNonNull(cancellations, "cancellations");
    this.replies = requireNonNull(replies, "replies");
    this.owners = requireNonNull(owners, "owners");
  }

  /** Does work that needs the session of the connection, if there is one. */
  void withSession(Consumer<Reply> answer, Consumer<AttachedSession> work) {
    AttachedSession attached = session;
    if (attached == null) {
      answer.accept(
          new Reply.Failure(
              SqlState.CONNECTION_REFUSED, "the connection has no session: open or attach one"));
    } else {
      work.accept(attached);
    }
  }

  /**
   * Opens a session.
   *
   * @param proof the login of this connection; null if none was required
   */
  void open(
      Request.OpenSession open,
      ClientInfo client,
      @Nullable LoginProof proof,
      Consumer<Reply> answer) {
    String wrong = wrongWith(open);
    TimeZoneName zone = null;
    if (wrong == null) {
      try {
        zone = TimeZones.named(open.timeZone());
      } catch (SQLException e) {
        wrong =
            "the cluster has no time zone "
                + Text.first(open.timeZone(), Limits.TIME_ZONE_CHARS)
                + ": set property timeZone to one that it has, such as UTC";
      }
    }
    if (zone == null) {
      answer.accept(new Reply.Failure(SqlState.INVALID_ARGUMENT, requireNonNull(wrong, "wrong")));
      return;
    }
    long secret = newSecret();
    UserName user = nameOf(proof);
    long number = proof == null ? Command.OpenSession.ANY_NUMBER : proof.number();
    pipeline.submit(
        new Command.OpenSession(
            client, secret, open.ttlMillis(), open.leaseTtlMillis(), user, number, zone),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            if (outcome instanceof Outcome.Refused refused) {
              answer.accept(Replies.of(refused));
              return;
            }
            SessionId id = ((Outcome.SessionOpened) outcome).session();
            session = new AttachedSession(id, user, methodOf(proof), open.options());
            answer.accept(new Reply.SessionReady(id.value(), secret));
          }

          @Override
          public void unknown() {
            answer.accept(leadership.notLeader());
          }

          @Override
          public void refused(String why) {
            answer.accept(new Reply.Failure(SqlState.BUSY, why));
          }
        });
  }

  /** The session of the connection, if it has one, else null. */
  @Nullable SessionId sessionOrNull() {
    AttachedSession attached = session;
    return attached == null ? null : attached.id();
  }

  /** True if the connection has a session that has neither expired nor ended here. */
  boolean hasOpenSession() {
    AttachedSession attached = session;
    return attached != null && facts.session(attached.id()) != null;
  }

  /** True if the user of the connection may do what only administrators may. */
  boolean isAdministrator(@Nullable String user) {
    return facts.isAdministrator(nameOf(user));
  }

  /** The user of a connection; null stands for one that did not have to log in. */
  static UserName nameOf(@Nullable String user) {
    return user == null ? UserName.ANONYMOUS : new UserName(user);
  }

  private static UserName nameOf(@Nullable LoginProof proof) {
    return nameOf(proof == null ? null : proof.user());
  }

  private static @Nullable LoginMethod methodOf(@Nullable LoginProof proof) {
    return proof == null ? null : proof.method();
  }

  private static long newSecret() {
    long secret = SECRETS.nextLong();
    while (secret == Command.OpenSession.NO_SECRET) {
      secret = SECRETS.nextLong();
    }
    return secret;
  }

  private static @Nullable String wrongWith(Request.OpenSession open) {
    if (open.ttlMillis() < Limits.SESSION_TTL_MIN_MILLIS
        || open.ttlMillis() > Limits.SESSION_TTL_MAX_MILLIS) {
      return "session timeout is " + open.ttlMillis() + " ms: it has to be 1 s to 24 hours";
    }
    if (open.leaseTtlMillis() < Limits.LEASE_TTL_MIN_MILLIS
        || open.leaseTtlMillis() > Limits.LEASE_TTL_MAX_MILLIS) {
      return "lease is " + open.leaseTtlMillis() + " ms: it has to be 100 ms to 24 hours";
    }
    return wrongWith(open.options());
  }

  private static @Nullable String wrongWith(Request.SessionOptions options) {
    long wait = options.lockWaitMillis();
    return wait < 0 || wait > Limits.LOCK_WAIT_MAX_MILLIS
        ? "lockWait is " + wait + " ms: it has to be 0 to one hour"
        : null;
  }

  void attach(Request.AttachSession attach, @Nullable LoginProof proof, Consumer<Reply> answer) {
    long arrivedNanos = timeKeeper.now();
    String wrong = wrongWith(attach.options());
    if (attach.sessionId() <= 0 || wrong != null) {
      answer.accept(
          new Reply.Failure(
              SqlState.INVALID_ARGUMENT,
              wrong == null ? "session " + attach.sessionId() + " does not exist" : wrong));
    } else if (attach.leaderOnly() && !leadership.isAssumed()) {
      takeovers.await(
          replies,
          () -> {
            if (leadership.isAssumed()) {
              attachKnown(attach, proof, arrivedNanos, answer);
            } else {
              answer.accept(leadership.notLeader());
            }
          });
    } else {
      attachKnown(attach, proof, arrivedNanos, answer);
    }
  }

  private void attachKnown(
      Request.AttachSession attach,
      @Nullable LoginProof proof,
      long arrivedNanos,
      Consumer<Reply> answer) {
    if (!tryAttach(attach, proof, arrivedNanos, answer)) {
      // a node that lags behind, or has lost leadership, cannot know that a session is gone
      leadership.awaitState(
          leads -> {
            if (!leads) {
              answer.accept(leadership.notLeader());
            } else if (!tryAttach(attach, proof, arrivedNanos, answer)) {
              answer.accept(
                  new Reply.Failure(
                      SqlState.SESSION_GONE,
                      "session "
                          + attach.sessionId()
                          + " is over: an administrator ended it, it was closed, or the cluster did"
                          + " not hear of it for its timeout; open a new connection"));
            }
          });
    }
  }

  /** Attaches or refuses a session that this node knows; returns false if it does not know it. */
  private boolean tryAttach(
      Request.AttachSession attach,
      @Nullable LoginProof proof,
      long arrivedNanos,
      Consumer<Reply> answer) {
    SessionId id = new SessionId(attach.sessionId());
    Facts.SessionFacts known = facts.session(id);
    if (known == null || !hasSettings(attach)) {
      return false;
    }
    if (!known.isUsable()) {
      answer.accept(
          new Reply.Failure(
              SqlState.SESSION_GONE,
              "session "
                  + id
                  + " is one of a restored backup, which no client can use: open a new"
                  + " connection"));
      return true;
    }
    if (!known.admits(attach.secret())) {
      replies.complain("does not know the secret of session " + id);
      answer.accept(
          new Reply.Failure(SqlState.CONNECTION_REFUSED, "session " + id + " is another client's"));
    } else if (!owners.mayUse(proof == null ? null : proof.user(), id)) {
      replies.complain("is not the user of session " + id + ", whose secret it knows");
      answer.accept(
          new Reply.Failure(SqlState.LOGIN_REFUSED, "session " + id + " is another user's"));
    } else {
      session = new AttachedSession(id, nameOf(proof), methodOf(proof), attach.options());
      timeKeeper.returned(id, arrivedNanos);
      answer.accept(new Reply.SessionReady(id.value(), attach.secret()));
    }
    return true;
  }

  /** False if this node lags behind what the client knows of the session. */
  private boolean hasSettings(Request.AttachSession attach) {
    long sequence = attach.settingSequence();
    return sequence <= 0
        || facts.hasReached(new RequestId(new SessionId(attach.sessionId()), sequence));
  }

  void close(Consumer<Reply> answer) {
    withSession(
        answer,
        attached ->
            propose(
                new Command.CloseSession(attached.id()),
                answer,
                outcome -> {
                  session = null;
                  answer.accept(new Reply.Ok());
                }));
  }

  void releaseOwnLease(Consumer<Reply> answer) {
    withSession(
        answer,
        attached ->
            propose(
                new Command.ReleaseOwnLease(attached.id()),
                answer,
                outcome ->
                    answer.accept(
                        outcome instanceof Outcome.Refused refused
                            ? Replies.of(refused)
                            : new Reply.Ok())));
  }

  /**
   * Cancels a statement of a session, also one that has not come yet. The client sends this by
   * another connection.
   */
  void cancel(Request.Cancel cancel, @Nullable String user, Consumer<Reply> answer) {
    if (cancel.sessionId() <= 0 || cancel.sequence() <= 0) {
      throw new WireFormatException("cancel of session " + cancel.sessionId());
    }
    SessionId id = new SessionId(cancel.sessionId());
    Facts.SessionFacts known = facts.session(id);
    if (known == null || !known.admits(cancel.secret()) || !owners.mayUse(user, id)) {
      answer.accept(
          leadership.isAssumed()
              ? new Reply.Failure(SqlState.SESSION_GONE, "there is no session " + id)
              : leadership.notLeader());
      return;
    }
    cancellations.cancel(new RequestId(id, cancel.sequence()), nameOf(user));
    propose(
        new Command.EndWait(id, cancel.sequence(), Command.WaitEnd.CANCELLED),
        answer,
        outcome -> answer.accept(new Reply.Ok()));
  }

  private void propose(Command command, Consumer<Reply> answer, Consumer<Outcome> then) {
    pipeline.submit(
        command,
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            then.accept(outcome);
          }

          @Override
          public void unknown() {
            answer.accept(leadership.notLeader());
          }
        });
  }
}
