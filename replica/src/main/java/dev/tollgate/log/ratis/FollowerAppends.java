package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static dev.tollgate.log.ratis.RatisInternals.method;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;

/**
 * The entries that leaders have this node append. Ratis 3.3.0 (NavigableIndices) begins an append
 * when the one before is on disk, which is the future that this class watches. Thread-safe.
 *
 * <p>If an append fails, Ratis carries out none that follows, and answers the leader with the same
 * failure forever. If an append never ends, all others wait. So a failed append fails the node.
 *
 * <p>A snapshot from the leader makes Ratis (SegmentedRaftLogWorker.syncWithSnapshot) forget what
 * its writer still has to do. An append on its way then never ends. Worse, the writer may forget to
 * create the file that Ratis closes next, and its failure closes the log. So a snapshot waits for
 * the writer.
 *
 * <p>While an entry is being appended, Ratis takes any request with an entry at its index for the
 * same append. It acknowledges the whole request when that one append is done, also entries that
 * follow, or entries of another term, which it drops. So such a request waits for the append.
 *
 * <p>A node that joins takes part in elections from the first request on that does not say that the
 * node is being initialized (RaftServerImpl.appendEntriesAsync). If that request comes from a new
 * leader, the node may not have the entry yet that makes it a member. Then it stops at the next
 * election (NOT_IN_CONF), and the cluster that has made it a member misses its vote. So requests
 * say that the node is being initialized until it has that entry.
 *
 * <p>A request with a snapshot also names the members. Ratis (SnapshotInstallationHandler) takes
 * them before it looks at the term, so they are removed from a request of a former leader.
 */
final class FollowerAppends implements ServerInterceptor {
  /** How long a snapshot or a request waits for appends; then the leader has to send it again. */
  private static final long SETTLE_SECONDS = 10;

  private static final long FORGOTTEN_NANOS = 100_000;

  private final Consumer<Throwable> failed;

  /** Held while Ratis orders an append, as two connections may bring the same entries at once. */
  private final Object order = new Object();

  private volatile @Nullable Pending pending;
  private volatile RaftServer.@Nullable Division division;

  /** The append that was ordered last; Ratis puts each next one here. */
  private volatile AtomicReference<CompletableFuture<Void>> last =
      new AtomicReference<>(CompletableFuture.completedFuture(null));

  /** The entries being appended: a NavigableIndices of Ratis, and its method getTerm. */
  private record Pending(Object chain, Method getTerm) {
    boolean anyOf(AppendEntriesRequestProto request) {
      try {
        for (LogEntryProto entry : request.getEntriesList()) {
          if (getTerm.invoke(chain, entry.getIndex()) != null) {
            return true;
          }
        }
        return false;
      } catch (ReflectiveOperationException e) {
        throw foreign(e);
      }
    }
  }

  /**
   * @param failed is told why this node will append nothing more; may be called more than once
   */
  FollowerAppends(Consumer<Throwable> failed) {
    this.failed = requireNonNull(failed, "failed");
  }

  /**
   * Begins to watch a server that has not opened its log yet.
   *
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  @SuppressWarnings("unchecked") // as declared in NavigableIndices
  void install(RaftServer server, RaftGroupId group) throws IOException {
    RaftServer.Division owner = server.getDivision(group);
    try {
      Object chain = field(owner.getClass(), "appendLogTermIndices").get(owner);
      last =
          (AtomicReference<CompletableFuture<Void>>) field(chain.getClass(), "future").get(chain);
      pending = new Pending(chain, method(chain.getClass(), "getTerm", long.class));
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw foreign(e);
    }
    division = owner;
  }

  private static IllegalStateException foreign(Exception cause) {
    return new IllegalStateException(
        "this Ratis appends entries otherwise than the one that Tollgate was written for", cause);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    return new ForwardingServerCallListener.SimpleForwardingServerCallListener<>(
        next.startCall(call, headers)) {
      @Override
      @SuppressWarnings("unchecked") // the message keeps its type
      public void onMessage(Q received) {
        Q message =
            received instanceof AppendEntriesRequestProto request && isToBeInitialized(request)
                ? (Q) request.toBuilder().setInitializing(true).build()
                : received;
        if (message instanceof AppendEntriesRequestProto request && request.getEntriesCount() > 0) {
          synchronized (order) {
            awaitAppended(request, call);
            if (call.isCancelled()) {
              return;
            }
            super.onMessage(message);
          }
          watch();
        } else if (message instanceof InstallSnapshotRequestProto request && isDeposed(request)) {
          super.onMessage(
              (Q) request.toBuilder().clearLastRaftConfigurationLogEntryProto().build());
        } else {
          super.onMessage(message);
        }
      }
    };
  }

  /** True if the request would begin elections at a node that is not a member yet. */
  private boolean isToBeInitialized(AppendEntriesRequestProto request) {
    RaftServer.Division owner = division;
    return !request.getInitializing()
        && owner != null
        && owner.getInfo().getLifeCycleState() == LifeCycle.State.STARTING
        && owner.getRaftConf().getPeer(owner.getId()) == null;
  }

  /** True if the request comes from the leader of a term that has passed. */
  private boolean isDeposed(InstallSnapshotRequestProto request) {
    RaftServer.Division owner = division;
    return owner != null && request.getLeaderTerm() < owner.getInfo().getCurrentTerm();
  }

  /**
   * Waits until none of these entries is being appended, or the leader has gone. The calling thread
   * serves only this call, and the leader has another call for heartbeats.
   *
   * @throws StatusRuntimeException if that takes too long, which ends the call
   */
  private void awaitAppended(AppendEntriesRequestProto request, ServerCall<?, ?> call) {
    Pending appends = pending;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
    while (appends != null && appends.anyOf(request) && !call.isCancelled()) {
      if (System.nanoTime() > end) {
        throw unavailable("the entries are still being appended: send them again");
      }
      try {
        last().get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw unavailable("the node stops");
      } catch (ExecutionException e) {
        throw unavailable("this node appends no more entries");
      } catch (TimeoutException e) {
        continue;
      }
      // Ratis forgets the indices of an append just after the append is done
      LockSupport.parkNanos(FORGOTTEN_NANOS);
    }
  }

  private static StatusRuntimeException unavailable(String why) {
    return Status.UNAVAILABLE.withDescription(why).asRuntimeException();
  }

  private void watch() {
    var unused =
        last()
            .exceptionally(
                failure -> {
                  failed.accept(failure);
                  return null;
                });
  }

  private CompletableFuture<Void> last() {
    return requireNonNull(last.get(), "last");
  }

  /**
   * Waits until all that was appended is on disk. Ratis lets no further append begin meanwhile,
   * because the caller has its monitor.
   *
   * @throws IllegalStateException if that takes too long, or if an append has failed
   */
  void settle() {
    RaftServer.Division owner = requireNonNull(division, "division");
    try {
      LogWriter writer = LogWriter.of(owner.getRaftLog());
      last().thenCompose(appended -> writer.drained()).get(SETTLE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the node stops", e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "entries from the leader have not been written for " + SETTLE_SECONDS + " s", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("an entry from the leader could not be written", e);
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    }
  }
}
