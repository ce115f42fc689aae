package dev.tollgate.log.ratis;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.peer.PeerRpc;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** The configuration of Ratis; docs/adr/0003 says why. */
final class RatisProperties {
  /** A log entry can hold the largest frame of a client and a full group before it. */
  static final int MAX_ENTRY_BYTES = 20 << 20;

  /** A message with the largest entry. */
  static final int MAX_MESSAGE_BYTES = MAX_ENTRY_BYTES + (4 << 20);

  private static final long SMALLEST_SEGMENT = 4 << 10;

  /**
   * Ratis keeps the entries of three segments in memory, where small entries take five times as
   * much as on disk. Together that is an eighth of the heap at most.
   */
  private static final long HEAP_PER_SEGMENT = 128;

  private static final long LEAST_LARGEST_SEGMENT = 1 << 20;
  private static final long MOST_LARGEST_SEGMENT = 32 << 20;

  private RatisProperties() {}

  static RaftProperties of(RaftSettings settings) {
    RaftProperties p = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(p, List.of(settings.directory().toFile()));
    Class<? extends RpcType> transport =
        settings.raftAddress() == null ? SoloRpc.Type.class : PeerRpc.Type.class;
    p.set("raft.rpc.type", transport.getName());
    configureElections(p, settings);
    configureLog(p, settings.snapshotLogBytes());
    return p;
  }

  private static void configureElections(RaftProperties p, RaftSettings settings) {
    long millis = settings.electionTimeout().toMillis();
    RaftServerConfigKeys.Rpc.setTimeoutMin(p, millis(millis));
    RaftServerConfigKeys.Rpc.setTimeoutMax(p, millis(2 * millis));
    RaftServerConfigKeys.Rpc.setRequestTimeout(p, millis(1_000));
    RaftServerConfigKeys.LeaderElection.setPreVote(p, true);
    // a new member is silent while it restores a snapshot: four seconds for a million rows
    RaftServerConfigKeys.setStagingTimeout(p, millis(RatisMembership.CATCH_UP_MILLIS));
    RaftServerConfigKeys.setStagingCatchupGap(p, RatisMembership.CATCH_UP_ENTRIES);
    // a leader that lost its majority may stand as soon as others: the default bars it for ten
    // seconds, and one without a majority gets no pre-votes
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(p, millis(2 * millis));
    // the session table answers repeated requests; this cache has no bound but time
    RaftServerConfigKeys.RetryCache.setExpiryTime(p, millis(10_000));
  }

  private static void configureLog(RaftProperties p, long snapshotLogBytes) {
    // a metadata entry per commit would be written, synced and replicated like any other
    RaftServerConfigKeys.Log.setLogMetadataEnabled(p, false);
    // composed, an append goes through two more threads: FollowerAppends knows what is on its way
    RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(p, false);
    RaftServerConfigKeys.Log.Appender.setWaitTimeMin(p, millis(0));
    // by default a follower that comes back waits five seconds, and after 80 minutes Ratis gives it
    // up
    RaftServerConfigKeys.Log.Appender.setRetryPolicy(p, "1ms,10, 1s,1000000000");
    // flushes that are acknowledged before they are done can lose entries
    RaftServerConfigKeys.Log.setAsyncFlushEnabled(p, false);
    RaftServerConfigKeys.Log.setUnsafeFlushEnabled(p, false);
    // eight requests fit the queue of the thread that writes the log, so nobody waits to append
    RaftServerConfigKeys.Log.Appender.setBufferElementLimit(p, 256);
    RaftServerConfigKeys.Log.setQueueElementLimit(p, 16 << 10);
    RaftServerConfigKeys.Log.setQueueByteLimit(p, SizeInBytes.valueOf("128MB"));
    // heartbeats share a connection with the chunks of a snapshot
    RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(p, SizeInBytes.valueOf("2MB"));
    SizeInBytes maxEntry = SizeInBytes.valueOf(MAX_ENTRY_BYTES);
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(p, maxEntry);
    RaftServerConfigKeys.Log.setWriteBufferSize(p, SizeInBytes.valueOf(MAX_ENTRY_BYTES + 64));
    // the log is cut by whole segments: with larger segments a snapshot would free nothing
    long largest = largestSegment(Runtime.getRuntime().maxMemory());
    long segment = Math.max(SMALLEST_SEGMENT, Math.min(largest, snapshotLogBytes / 2));
    RaftServerConfigKeys.Log.setSegmentSizeMax(p, SizeInBytes.valueOf(segment));
    // a new leader begins a segment, and its first entry waits until this much is written
    RaftServerConfigKeys.Log.setPreallocatedSize(p, SizeInBytes.valueOf("256KB"));
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(p, 2);
    RaftServerConfigKeys.Log.setSegmentCacheSizeMax(p, SizeInBytes.valueOf("64MB"));
    // the state machine decides when; the log is cut up to what takeSnapshot returns
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(p, false);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(p, true);
    RaftServerConfigKeys.Log.setPurgeGap(p, 1);
  }

  /** The size at which a process with this heap begins another segment of the log, in bytes. */
  static long largestSegment(long heapBytes) {
    return Math.max(
        LEAST_LARGEST_SEGMENT, Math.min(MOST_LARGEST_SEGMENT, heapBytes / HEAP_PER_SEGMENT));
  }

  private static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
  }
}
