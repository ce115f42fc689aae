package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The addresses from which members call: those at which this node has called them, as their names
 * were resolved then, and those from which they have called. A node that is no member yet, because
 * it is being added, counts for {@link Limits#JOINING_ADDRESS_SECONDS} after it was called. At most
 * {@link Limits#MEMBER_ADDRESSES} are known, and the oldest goes. Thread-safe.
 */
final class MemberAddresses {
  private static final long JOINING_NANOS =
      TimeUnit.SECONDS.toNanos(Limits.JOINING_ADDRESS_SECONDS);

  private record Way(String nodeId, boolean called) {}

  private record Place(InetAddress address, long notedNanos) {}

  private final PeerGuard.Members members;
  private final LongSupplier nanoTime;

  /** The oldest first. */
  private final Map<Way, Place> places = new LinkedHashMap<>();

  MemberAddresses(PeerGuard.Members members, LongSupplier nanoTime) {
    this.members = requireNonNull(members, "members");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /** This node calls a node at this address. */
  void calls(String nodeId, InetAddress address) {
    note(new Way(nodeId, true), address);
  }

  /** A node that is served has called from this address. */
  void calledBy(String nodeId, InetAddress address) {
    if (members.contains(nodeId)) {
      note(new Way(nodeId, false), address);
    }
  }

  private synchronized void note(Way way, InetAddress address) {
    places.remove(way);
    if (places.size() >= Limits.MEMBER_ADDRESSES) {
      places.remove(places.keySet().iterator().next());
    }
    places.put(way, new Place(address, nanoTime.getAsLong()));
  }

  /** True if a member, or a node that is being added, has this address. */
  synchronized boolean contains(InetAddress address) {
    long now = nanoTime.getAsLong();
    for (Map.Entry<Way, Place> entry : places.entrySet()) {
      Place place = entry.getValue();
      if (place.address().equals(address)
          && (members.contains(entry.getKey().nodeId())
              || (entry.getKey().called() && now - place.notedNanos() <= JOINING_NANOS))) {
        return true;
      }
    }
    return false;
  }
}
