package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.NavigableMap;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.LogProtoUtils;

/**
 * The members as the log names them up to an entry. A snapshot goes with those of its last entry:
 * later ones come as entries, and may be cut off again (ADR 0121). Ratis 3.3.0 (LeaderProtoUtils)
 * gives its latest members to a follower with each snapshot. It keeps all earlier ones in memory
 * (ConfigurationManager), and offers no way to ask for them. So this class reaches into Ratis.
 * Thread-safe.
 */
final class MembersOfLog {
  private final RaftServer.Division division;
  private final Object manager;

  /** By the index of the entry; Ratis changes it with the monitor of its manager held. */
  private final NavigableMap<Long, RaftConfiguration> all;

  private MembersOfLog(
      RaftServer.Division division, Object manager, NavigableMap<Long, RaftConfiguration> all) {
    this.division = requireNonNull(division, "division");
    this.manager = requireNonNull(manager, "manager");
    this.all = requireNonNull(all, "all");
  }

  /**
   * Returns the members of a server.
   *
   * @throws ReflectiveOperationException if this Ratis is not the version that this class was
   *     written for
   */
  @SuppressWarnings("unchecked")
  static MembersOfLog of(RaftServer.Division division) throws ReflectiveOperationException {
    Object state = field(division.getClass(), "state").get(division);
    Object manager = field(state.getClass(), "configurationManager").get(state);
    return new MembersOfLog(
        division,
        manager,
        (NavigableMap<Long, RaftConfiguration>)
            field(manager.getClass(), "configurations").get(manager));
  }

  /**
   * Returns an entry with the members as of an entry that this node has applied. If this node was
   * started with later ones, they are committed too: then it returns the first of them as if that
   * entry had named them.
   */
  LogEntryProto asOf(long logIndex) {
    RaftConfiguration members = find(logIndex);
    return LogProtoUtils.toLogEntryProto(
        members, null, Math.min(members.getLogEntryIndex(), logIndex));
  }

  private RaftConfiguration find(long logIndex) {
    synchronized (manager) {
      Map.Entry<Long, RaftConfiguration> named = all.floorEntry(logIndex);
      Map.Entry<Long, RaftConfiguration> found = named == null ? all.firstEntry() : named;
      return found == null ? division.getRaftConf() : found.getValue();
    }
  }
}
