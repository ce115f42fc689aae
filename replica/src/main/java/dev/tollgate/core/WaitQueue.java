package dev.tollgate.core;

import dev.tollgate.core.command.RequestId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for a lock, in the order in which they came, found by session and by
 * lease: nothing here examines all of them. A request has a number, which counts those of this
 * queue. A copy costs nothing.
 */
final class WaitQueue {
  /** A request and its number. */
  private record Place(long number, Waiter waiter) {}

  private NumberMap<Waiter> order = NumberMap.empty();

  /** Those that are not passed over, one of which is next. */
  private NumberMap<Waiter> candidates = NumberMap.empty();

  /** Those for several locks. */
  private NumberMap<Waiter> sets = NumberMap.empty();

  /** By session, which has one request at a time. */
  private NumberMap<Place> ofSessions = NumberMap.empty();

  /** By lease, and then by number. */
  private NumberMap<NumberMap<Waiter>> ofLeases = NumberMap.empty();

  private long lastNumber;

  WaitQueue() {}

  WaitQueue(WaitQueue original) {
    order = original.order;
    candidates = original.candidates;
    sets = original.sets;
    ofSessions = original.ofSessions;
    ofLeases = original.ofLeases;
    lastNumber = original.lastNumber;
  }

  /**
   * @param holds whether the request's lease holds the lock: a request for several locks is passed
   *     over then
   */
  void add(Waiter waiter, boolean holds) {
    long session = waiter.request().session().value();
    if (ofSessions.get(session) != null) {
      throw new IllegalStateException("session " + session + " waits already");
    }
    long number = ++lastNumber;
    ofSessions = ofSessions.with(session, new Place(number, waiter));
    order = order.with(number, waiter);
    if (waiter.isForSeveral()) {
      sets = sets.with(number, waiter);
    }
    if (!waiter.isForSeveral() || !holds) {
      candidates = candidates.with(number, waiter);
    }
    long lease = waiter.lease().id().value();
    ofLeases = ofLeases.with(lease, ofLease(waiter.lease()).with(number, waiter));
  }

  /** Removes a request, and returns false if it is not here. */
  boolean remove(RequestId request) {
    Place place = placeOf(request);
    if (place == null) {
      return false;
    }
    ofSessions = ofSessions.without(request.session().value());
    order = order.without(place.number());
    candidates = candidates.without(place.number());
    sets = sets.without(place.number());
    Lease lease = place.waiter().lease();
    NumberMap<Waiter> left = ofLease(lease).without(place.number());
    ofLeases =
        left.isEmpty()
            ? ofLeases.without(lease.id().value())
            : ofLeases.with(lease.id().value(), left);
    return true;
  }

  private @Nullable Place placeOf(RequestId request) {
    Place place = ofSessions.get(request.session().value());
    return place != null && place.waiter().request().equals(request) ? place : null;
  }

  private NumberMap<Waiter> ofLease(Lease lease) {
    NumberMap<Waiter> found = ofLeases.get(lease.id().value());
    return found == null ? NumberMap.empty() : found;
  }

  /** Passes over the requests for several locks of a lease that now holds this one. */
  void passOver(Lease lease) {
    for (Place place : placesOfSets(lease)) {
      candidates = candidates.without(place.number());
    }
  }

  /** Ends {@link #passOver}: the lease does not hold the lock any more. */
  void passOverNoMore(Lease lease) {
    for (Place place : placesOfSets(lease)) {
      candidates = candidates.with(place.number(), place.waiter());
    }
  }

  private List<Place> placesOfSets(Lease lease) {
    List<Place> places = new ArrayList<>(0);
    for (Waiter waiter : ofLease(lease).values()) {
      Place place = waiter.isForSeveral() ? placeOf(waiter.request()) : null;
      if (place != null) {
        places.add(place);
      }
    }
    return places;
  }

  boolean isEmpty() {
    return order.isEmpty();
  }

  Collection<Waiter> all() {
    return order.values();
  }

  /** The requests for several locks, in the order of the queue. */
  Collection<Waiter> sets() {
    return sets.values();
  }

  @Nullable Waiter next() {
    return candidates.first();
  }

  @Nullable Waiter of(RequestId request) {
    Place place = placeOf(request);
    return place == null ? null : place.waiter();
  }

  /** Returns true if the first request came before the second; both are here. */
  boolean isBefore(RequestId first, RequestId second) {
    Place one = placeOf(first);
    Place other = placeOf(second);
    return one != null && other != null && one.number() < other.number();
  }

  Collection<Waiter> of(Lease lease) {
    return ofLease(lease).values();
  }
}
