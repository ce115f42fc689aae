package dev.tollgate.node.client;

import java.util.HashMap;
import java.util.Map;

/**
 * Who may have a password checked at this moment, or wait for that. A check takes a tenth of a
 * second, so there are places for some; guesses under one name, or from one address, cannot have
 * all of them. Thread-safe.
 */
final class CheckPlaces {
  /** What takes places. */
  private record UserAt(String address, String user) {}

  private final int most;
  private final int perAddress;
  private final int perUser;
  private final Map<String, Integer> addresses = new HashMap<>();
  private final Map<UserAt, Integer> users = new HashMap<>();
  private int taken;

  /**
   * @param most places
   * @param perAddress of these for one address
   * @param perUser of these for one user from one address
   */
  CheckPlaces(int most, int perAddress, int perUser) {
    this.most = most;
    this.perAddress = perAddress;
    this.perUser = perUser;
  }

  /** Takes a place; false if there is none. */
  synchronized boolean take(String user, String address) {
    UserAt key = new UserAt(address, user);
    if (taken >= most
        || addresses.getOrDefault(address, 0) >= perAddress
        || users.getOrDefault(key, 0) >= perUser) {
      return false;
    }
    taken++;
    addresses.merge(address, 1, Integer::sum);
    users.merge(key, 1, Integer::sum);
    return true;
  }

  /** How many places are taken. */
  synchronized int taken() {
    return taken;
  }

  /** Gives a place back. */
  synchronized void giveBack(String user, String address) {
    taken--;
    addresses.computeIfPresent(address, (any, count) -> count == 1 ? null : count - 1);
    users.computeIfPresent(
        new UserAt(address, user), (any, count) -> count == 1 ? null : count - 1);
  }
}
