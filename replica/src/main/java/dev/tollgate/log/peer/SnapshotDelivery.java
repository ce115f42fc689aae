package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends snapshots to one follower, on the thread of its appender. */
final class SnapshotDelivery {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotDelivery.class);

  private final LogAppender appender;
  private final PeerLink link;
  private final PeerSettings settings;

  SnapshotDelivery(LogAppender appender, PeerLink link, PeerSettings settings) {
    this.appender = requireNonNull(appender, "appender");
    this.link = requireNonNull(link, "link");
    this.settings = requireNonNull(settings, "settings");
  }

  /** Returns true once the follower has the whole snapshot. */
  boolean deliver(SnapshotInfo snapshot, PeerConnection connection) throws InterruptedException {
    LOG.info(
        "{}: the follower needs entries from {} on, and gets {}",
        appender,
        appender.getFollower().getNextIndex(),
        snapshot.getTermIndex());
    try {
      LogEntryProto members =
          LogEntryProto.parseFrom(
              settings.snapshots().configuration(snapshot.getTermIndex().getIndex()));
      Iterable<InstallSnapshotRequestProto> stored =
          appender.newInstallSnapshotRequests(UUID.randomUUID().toString(), snapshot);
      if (settings.entries().keys().isOn()) {
        return deliverOpened(members, stored.iterator().next(), snapshot, connection);
      }
      for (InstallSnapshotRequestProto request : stored) {
        if (!deliver(members, request, connection)) {
          return false;
        }
      }
      return true;
    } catch (IOException | IllegalStateException e) {
      LOG.warn("{}: {} did not arrive", appender, snapshot.getTermIndex(), e);
      return false;
    }
  }

  private boolean deliverOpened(
      LogEntryProto members,
      InstallSnapshotRequestProto first,
      SnapshotInfo snapshot,
      PeerConnection connection)
      throws IOException, InterruptedException {
    try (OpenedSnapshot opened = new OpenedSnapshot(first, snapshot, settings.entries().keys())) {
      while (opened.hasNext()) {
        if (!deliver(members, opened.next(), connection)) {
          return false;
        }
      }
      return true;
    }
  }

  /** One at a time: Ratis counts a chunk that follows one which failed as under way for ever. */
  private boolean deliver(
      LogEntryProto members, InstallSnapshotRequestProto request, PeerConnection connection)
      throws IOException, InterruptedException {
    appender.getFollower().updateLastRpcSendTime(/* isHeartbeat= */ false);
    return needsMore(
        connection.call(
            (call, read) -> Frame.of(Frame.Kind.SNAPSHOT, call, read, with(members, request))));
  }

  /** Ratis names its latest members, which a later leader may cut off. */
  private static InstallSnapshotRequestProto with(
      LogEntryProto members, InstallSnapshotRequestProto request) {
    return request.toBuilder().setLastRaftConfigurationLogEntryProto(members).build();
  }

  /** Waits for the answer to a chunk; false if this node leads no more. */
  private boolean needsMore(CompletableFuture<Frame> chunk)
      throws IOException, InterruptedException {
    InstallSnapshotReplyProto reply = InstallSnapshotReplyProto.parseFrom(await(chunk).message());
    settings.requireReachable(reply.getTerm());
    appender.getFollower().updateLastRpcResponseTime();
    switch (reply.getResult()) {
      // a follower that has committed so far already says so to each chunk
      case SUCCESS, IN_PROGRESS, ALREADY_INSTALLED -> {
        return true;
      }
      case NOT_LEADER -> {
        // stepping down waits for this thread, and has the monitor that this needs
        settings
            .supervision()
            .thread("tollgate-later-term", () -> appender.onFollowerTerm(reply.getTerm()))
            .start();
        return false;
      }
      default -> throw new IOException("the follower says " + reply.getResult());
    }
  }

  /** Waits for as long as the follower takes to restore a snapshot, but not for a silent one. */
  private Frame await(CompletableFuture<Frame> answer) throws IOException, InterruptedException {
    while (true) {
      try {
        return answer.get(settings.electionMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        throw new IOException(requireNonNull(e.getCause()).getMessage(), e);
      } catch (TimeoutException e) {
        if (!appender.isRunning()) {
          throw new InterruptedException("this node leads no more");
        }
        link.ask(this::isThere);
      }
    }
  }

  /** A follower that restores a snapshot, and still follows, counts as one that is there. */
  private void isThere(long term) {
    if (term == appender.getServer().getInfo().getCurrentTerm()) {
      appender.getFollower().updateLastRpcResponseTime();
    }
  }
}
