package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.thirdparty.io.grpc.CallOptions;
import org.apache.ratis.thirdparty.io.grpc.Channel;
import org.apache.ratis.thirdparty.io.grpc.ClientCall;
import org.apache.ratis.thirdparty.io.grpc.ClientInterceptor;
import org.apache.ratis.thirdparty.io.grpc.ForwardingClientCall;
import org.apache.ratis.thirdparty.io.grpc.ForwardingClientCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.MethodDescriptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.util.AutoCloseableLock;
import org.apache.ratis.util.AutoCloseableReadWriteLock;
import org.apache.ratis.util.MemoizedSupplier;

/**
 * Makes a leader send entries again whose answer was lost with the connection. Ratis 3.3.0
 * (GrpcLogAppender.resetClient) forgets the requests that a broken connection leaves unanswered,
 * and goes on with the entry after them. The next answer of the follower would tell what the
 * follower has. The command pipeline proposes no next entry before it has the answer to the last
 * one, and heartbeats keep the leader in place. So nothing would ever be committed again.
 */
final class EntryResender {
  private static final String METHOD =
      RaftServerProtocolServiceGrpc.getAppendEntriesMethod().getFullMethodName();

  private final RaftServer server;
  private final RaftGroupId group;
  private final Field role;
  private final Field leaderState;
  private final Field senders;
  private final Field startupLogEntry;
  private final Field startIndex;
  private final Field lock;

  /**
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  EntryResender(RaftServer server, RaftGroupId group) {
    this.server = server;
    this.group = group;
    try {
      String internals = "org.apache.ratis.server.impl.";
      Class<?> leader = Class.forName(internals + "LeaderStateImpl");
      role = field(Class.forName(internals + "RaftServerImpl"), "role");
      leaderState = field(Class.forName(internals + "RoleInfo"), "leaderState");
      senders = field(leader, "senders");
      startupLogEntry = field(leader, "startupLogEntry");
      startIndex = field(Class.forName(leader.getName() + "$StartupLogEntry"), "startIndex");
      lock = field(GrpcLogAppender.class, "lock");
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    }
  }

  private static IllegalStateException foreign(Exception cause) {
    return new IllegalStateException(
        "this Ratis sends entries otherwise than the one that Tollgate was written for", cause);
  }

  /** Returns what watches the calls to a node. */
  ClientInterceptor watching(RaftPeerId follower) {
    return new ClientInterceptor() {
      @Override
      public <Q, A> ClientCall<Q, A> interceptCall(
          MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        ClientCall<Q, A> call = next.newCall(method, options);
        return method.getFullMethodName().equals(METHOD) ? watched(call, follower) : call;
      }
    };
  }

  private <Q, A> ClientCall<Q, A> watched(ClientCall<Q, A> call, RaftPeerId follower) {
    return new ForwardingClientCall.SimpleForwardingClientCall<>(call) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        super.start(
            new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(listener) {
              @Override
              public void onClose(Status status, Metadata trailers) {
                super.onClose(status, trailers);
                // Ratis has forgotten by now what was unanswered
                if (!status.isOk()) {
                  resend(follower);
                }
              }
            },
            headers);
      }
    };
  }

  private void resend(RaftPeerId follower) {
    try {
      Object current = role.get(server.getDivision(group));
      Object leader = ((AtomicReference<?>) leaderState.get(current)).get();
      if (leader == null) {
        return;
      }
      for (Object sender : (Iterable<?>) senders.get(leader)) {
        if (sender instanceof GrpcLogAppender appender
            && appender.getFollowerId().equals(follower)
            && appender.isRunning()
            && lowerNextIndex(appender, leader)) {
          appender.notifyLogAppender();
        }
      }
    } catch (IOException e) {
      // the node has left its group, or is closing
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    }
  }

  /**
   * Lowers the index of the next entry to send if that has gone too far, but not below the first
   * that is not committed. A follower that lacks earlier entries says so itself. To begin with
   * these would make the leader read entries, or a whole snapshot, once a second for each follower
   * that is down.
   */
  @SuppressWarnings("try") // closing the lock releases it
  private boolean lowerNextIndex(LogAppender appender, Object leader)
      throws ReflectiveOperationException {
    FollowerInfo follower = appender.getFollower();
    // Ratis chooses entries and raises the index under this lock
    AutoCloseableReadWriteLock sending = (AutoCloseableReadWriteLock) lock.get(appender);
    try (AutoCloseableLock held = sending.writeLock(null, null)) {
      long unanswered =
          Math.max(
              firstUnanswered(follower, leader), appender.getRaftLog().getLastCommittedIndex() + 1);
      if (unanswered >= follower.getNextIndex()) {
        return false;
      }
      follower.setNextIndex(unanswered);
      return true;
    }
  }

  private long firstUnanswered(FollowerInfo follower, Object leader)
      throws ReflectiveOperationException {
    long answered = follower.getMatchIndex();
    if (answered >= 0) {
      return answered + 1;
    }
    // the follower has not answered in this term, which begins with this entry
    MemoizedSupplier<?> startup = (MemoizedSupplier<?>) startupLogEntry.get(leader);
    return startup.isInitialized() ? startIndex.getLong(startup.get()) : Long.MAX_VALUE;
  }
}
