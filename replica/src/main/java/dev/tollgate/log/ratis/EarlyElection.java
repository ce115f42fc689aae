package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static dev.tollgate.log.ratis.RatisInternals.method;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.Timestamp;

/**
 * An election before the leader has been silent for an election timeout. Ratis 3.3.0 offers that
 * only without a pre-vote (startLeaderElection). A candidate that finds no majority would then
 * raise its term again and again, and depose a healthy leader later on. So this class reaches into
 * Ratis for the way that its own election timeout takes.
 */
final class EarlyElection {
  private final RaftServer.Division division;
  private final long timeoutMillis;
  private final Field role;
  private final Field followerState;
  private final Field lastRpcTime;
  private final Method changeToCandidate;

  /**
   * @param timeoutMillis the longest election timeout
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  EarlyElection(RaftServer.Division division, long timeoutMillis) {
    this.division = division;
    this.timeoutMillis = timeoutMillis;
    try {
      String internals = division.getClass().getPackageName() + ".";
      role = field(division.getClass(), "role");
      followerState = field(Class.forName(internals + "RoleInfo"), "followerState");
      lastRpcTime = field(Class.forName(internals + "FollowerState"), "lastRpcTime");
      changeToCandidate = method(division.getClass(), "changeToCandidate", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    }
  }

  private static IllegalStateException foreign(ReflectiveOperationException cause) {
    return new IllegalStateException(
        "this Ratis elects otherwise than the one that Tollgate was written for", cause);
  }

  /**
   * True if this node follows a leader of this term, or knows none in this term. A node that joins
   * does not: it would stand without being a member, and Ratis ends such a candidate.
   */
  private boolean follows(String leader, long term) {
    DivisionInfo info = division.getInfo();
    RaftPeerId known = info.getLeaderId();
    return info.isFollower()
        && info.getLifeCycleState().isRunning()
        && info.getCurrentTerm() == term
        && (known == null || known.toString().equals(leader));
  }

  /** Takes the leader for silent, so that this node votes for another one that stands. */
  void doubt(String leader, long term) {
    synchronized (division) {
      if (follows(leader, term)) {
        setLastHeard(Timestamp.currentTime().addTimeMs(-timeoutMillis));
      }
    }
  }

  /** Notes that a leader was heard, although Ratis gets nothing of what it said. */
  void heard() {
    setLastHeard(Timestamp.currentTime());
  }

  private void setLastHeard(Timestamp time) {
    try {
      Object follower = ((AtomicReference<?>) followerState.get(role.get(division))).get();
      if (follower != null) {
        lastRpcTime.set(follower, time);
      }
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    }
  }

  /** Stands for election, beginning with a pre-vote. */
  void stand(String leader, long term) {
    synchronized (division) {
      if (follows(leader, term)) {
        try {
          boolean withoutPreVote = false;
          changeToCandidate.invoke(division, withoutPreVote);
        } catch (ReflectiveOperationException e) {
          throw foreign(e);
        }
      }
    }
  }
}
